"""What the README and the tutorials print is run: every command and every example, on smaller settings."""

import json
import os
import re
import runpy
import shlex
import shutil
import sys
from collections import Counter
from pathlib import Path

import pytest

from lopsided.claims.counts import counts
from lopsided.stats.verdict import Claim

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
PAGES = {"README": README, "quickstart": (ROOT / "docs/quickstart.md").read_text()}
TUTORIALS = ("first-task", "first-recipe", "first-sweep")
SMALLER = {"steps=1000": "steps=40", "seeds=8": "seeds=2"}


def blocks(text):
    """(language, code) of every fenced block."""
    return re.findall(r"```(python|bash)\n(.*?)```", text, re.S)


def commands(text):
    """The `lopsided` lines of a page, as arguments."""
    found = []
    for kind, code in blocks(text):
        for line in code.splitlines():
            words = shlex.split(line, comments=True)
            if kind == "bash" and words and words[0] == "lopsided":
                found.append(words[1:])
    return found


def smoke(arguments):
    """`run` at smoke scale, with two seeds where seeds are asked for."""
    if arguments[0] != "run":
        return arguments
    small = [*arguments, *([] if "--scale" in arguments else ["--scale", "smoke"])]
    if "--seeds" in small:
        small[small.index("--seeds") + 1] = "3"
    return small


def call(arguments, capfd):
    from lopsided.cli import main

    capfd.readouterr()
    code = 0
    try:
        main(arguments)
    except SystemExit as ended:
        code = ended.code or 0
    return code, *capfd.readouterr()


@pytest.mark.slow
def test_every_command_of_the_pages_runs(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(ROOT / "tests/logs", tmp_path / "tests/logs")  # the README's example of logs
    (tmp_path / "results").mkdir()
    shutil.copyfile(ROOT / "results/tour.parquet", tmp_path / "results/tour.parquet")  # all of them take a minute
    topics = ("apple tart pie sugar", "car road wheel tyre", "comet tail orbit star")  # and what a reader has
    texts = [
        {"text": " ".join(sorted(topics[i % 3].split(), key=lambda w, i=i: (len(w) * i) % 7)[:3])} for i in range(90)
    ]
    (tmp_path / "texts.jsonl").write_text("\n".join(map(json.dumps, texts)))
    (tmp_path / "loop.py").write_text("def train(stream, seed):\n    return float(stream.at(seed))\n")
    asked = dict.fromkeys(tuple(smoke(words)) for text in PAGES.values() for words in commands(text))
    assert len(asked) > 8
    first = ("run", "skills")  # write what others read
    for arguments in sorted(asked, key=lambda words: words[0] not in first):
        code, out, err = call(list(arguments), capfd)
        assert code == 0, (arguments, err)
        assert out.strip(), arguments


@pytest.mark.parametrize("page", PAGES)
def test_every_make_target_of_a_page_exists(page):
    makefile = (ROOT / "Makefile").read_text()
    targets = re.findall(r"^make (\w+)", "\n".join(code for _, code in blocks(PAGES[page])), re.M)
    assert targets
    for target in targets:
        assert f"\n{target}:" in makefile


@pytest.fixture
def away(tmp_path, monkeypatch):
    """An empty folder; what it makes known is forgotten again."""
    from lopsided.core import registry

    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    before, modules = dict(registry._OUTSIDE["task"]), set(sys.modules)
    yield tmp_path
    registry._OUTSIDE["task"].clear()
    registry._OUTSIDE["task"].update(before)
    for name in set(sys.modules) - modules:
        if str(tmp_path) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


@pytest.mark.slow
def test_the_tutorials_run_from_first_to_last(away, monkeypatch, capfd):
    """Each goes on with the files of the one before; examples run on fewer steps and seeds."""
    monkeypatch.setenv("COLUMNS", "200")
    verdicts = ""
    for page in TUTORIALS:
        example = ""
        for kind, code in blocks((ROOT / f"docs/tutorials/{page}.md").read_text()):
            if code.startswith("# FILE: "):
                name, _, body = code.partition("\n")
                (away / name.removeprefix("# FILE: ")).write_text(body)
            elif kind == "python":
                example += code
            else:
                for line in code.strip().splitlines():
                    status, out, err = call(smoke(shlex.split(line)[1:]), capfd)
                    assert status == 0, (line, err)
                    verdicts += out
        if example:
            for old, new in SMALLER.items():
                assert old in example
                example = example.replace(old, new)
            (away / "example.py").write_text(example)
            runpy.run_path("example.py")
            verdicts += capfd.readouterr().out
    assert "uniform reaches test/accuracy ≥ 0.9 in fewer samples than power law" in verdicts
    assert "the small set needs fewer steps" in verdicts


def test_the_results_file_speaks_of_the_recipes_as_they_are():
    """If not: a claim was changed after the file was written. `make results FOLDER=...` writes it anew."""
    from lopsided.core.registry import registered

    data = json.loads((ROOT / "docs/results.json").read_text())
    fields = ("recipe", "claim", "kind", "source", "paper", "figure", "number", "near_trivial", "history")
    said = [tuple(c[field] for field in fields) for c in data["claims"]]
    every = [s.not_run(r.name, "laptop") for r in registered("recipe").values() for s in r.claims]
    assert said == [tuple(getattr(claim, field) for field in fields) for claim in every]
    assert data["counts"] == counts([Claim.of_json(c) for c in data["claims"]]).as_json()
    assert set(data["runs"]) == {c["recipe"] for c in data["claims"] if c["verdict"] != "not run"}


@pytest.mark.slow
def test_the_pages_of_recipes_have_the_numbers_of_the_file(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs/_extensions"))
    import recipe_pages

    from lopsided.report.words import claim_rows

    recipe_pages.write(tmp_path)
    claims, runs = recipe_pages.results()
    matrix = (tmp_path / "verdicts.md").read_text()
    for name in runs:
        page = (tmp_path / "recipes" / f"{name}.md").read_text()
        for _, effect, verdict, _ in claim_rows(claims[name]):
            assert recipe_pages._safe((effect,))[0] in page
            assert recipe_pages._safe((effect,))[0] in matrix
            assert verdict in page
    assert len(list((tmp_path / "recipes").glob("*.md"))) == len(claims) + 1


FROM_REPORTS = {
    "countries.md",
    "digits-sum.md",
    "discovered-text.md",
    "even-pairs.md",
    "grokking.md",
    "growing-parity.md",
    "long-tail.md",
    "mixture.md",
    "order-of-draws.md",
    "repeat-order.md",
    "speedrun.md",
    "stdlib-text.md",
}
MADE = {"verdicts.md", "spec.md", "should-i-shape.md"}


def test_pages_have_a_sentence_a_line(monkeypatch):
    """None longer than 120 letters: a change shows as the sentence that it is. `python packaging/sentences.py FILE`."""
    monkeypatch.syspath_prepend(str(ROOT / "packaging"))
    from sentences import written

    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *(ROOT / "docs/tutorials").glob("*.md")]
    for page in pages:
        if page.name not in FROM_REPORTS | MADE | {"LOG.md"}:
            text = page.read_text()
            assert written(text) == text, page


def test_a_sentence_a_line_by_hand(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "packaging"))
    from sentences import written

    assert written("One. Two (see fig. 3. It is\nlong).\n- a. B\n") == "One.\nTwo (see fig. 3. It is long).\n- a. B\n"
    assert written("x " * 59 + "is 2.5 % of all.\n").splitlines()[1] == "2.5 % of all."  # a % begins a comment


def test_links_between_pages_lead_somewhere():
    generated = {"verdicts.md", "should-i-shape.md", "spec.md"}
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]:
        if {"_build", "recipes", "rows"} & set(page.parts) or page.name in generated:
            continue
        for target in re.findall(r"\]\(([^)#\s]+)\)", page.read_text()):
            there = os.path.normpath(page.parent / target)
            written = Path(there).name in generated or "/docs/recipes/" in there
            assert target.startswith(("http", "mailto")) or written or Path(there).exists(), (page.name, target)


def test_the_decision_page_is_of_the_results_as_they_are(monkeypatch, tmp_path):
    """It lies in the tree, since `lopsided advise` names it. If not: `make docs`."""
    monkeypatch.syspath_prepend(str(ROOT / "docs/_extensions"))
    from decision_page import write

    write(tmp_path)
    assert (tmp_path / "should-i-shape.md").read_text() == (ROOT / "docs/should-i-shape.md").read_text()


@pytest.mark.parametrize("page", ["repetition", "strength", "repetition-transformers"])
def test_what_a_page_counts_is_counted(page):
    """One had four wrong numbers, since nobody counted again after a recipe was published."""
    text = (ROOT / f"docs/{page}.md").read_text()
    names = re.findall(r"^## ([a-z0-9-]+)$", text, re.M)
    found = [each for each in json.loads((ROOT / "docs/results.json").read_text())["claims"] if each["recipe"] in names]
    counts = Counter(each["verdict"] for each in found)
    (said,) = re.findall(r"^Of (\d+) claims, (.*?)\.$", text, re.M)
    assert int(said[0]) == len(found)
    by_word = {word: int(n) for n, word in re.findall(r"(\d+) (?:are (?:of a \[)?)?(\w+)", said[1])}
    assert {{"hold": "holds"}.get(word, word): n for word, n in by_word.items()} == {
        v: n for v, n in counts.items() if n
    }


def test_the_file_for_assistants_is_of_the_api_as_it_is():
    """If not: `python packaging/llms.py`."""
    pytest.importorskip("grain")
    pytest.importorskip("torch")
    namespace = runpy.run_path(str(ROOT / "packaging/llms.py"))
    assert namespace["text"]() == (ROOT / "llms.txt").read_text()


def test_a_source_distribution_is_the_same_bytes_again(tmp_path):
    """Whoever packed the files, and when."""
    import io
    import tarfile

    repacked = runpy.run_path(str(ROOT / "packaging/repack.py"))["repacked"]

    def packed(owner, when):
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w:gz") as archive:
            for name in ("a/b.py", "a/a.py"):
                member = tarfile.TarInfo(name)
                member.size, member.uname, member.uid, member.mtime = 3, owner, len(owner), when
                archive.addfile(member, io.BytesIO(b"x=1"))
        return out.getvalue()

    one, two = repacked(packed("me", 1_700_000_000), 9), repacked(packed("you all", 1_800_000_000), 9)
    assert one == two
    with tarfile.open(fileobj=io.BytesIO(one)) as archive:
        assert [(m.name, m.mtime, m.uname, m.size) for m in archive] == [("a/a.py", 9, "", 3), ("a/b.py", 9, "", 3)]
