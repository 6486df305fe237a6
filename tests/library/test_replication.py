"""The replication report, and claims for others' tools: a Trackio logbook, an RO-Crate."""

import hashlib
import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from lopsided.claims.counts import counts
from lopsided.cli import main
from lopsided.export.logbook import identifier, word
from lopsided.report.forest import forest
from lopsided.stats.verdict import Claim

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "docs/results.json"
CLAIMS = [Claim.of_json(each) for each in json.loads(RESULTS.read_text())["claims"]]


def cli(*words, code=0):
    with pytest.raises(SystemExit) as ended:
        main([*map(str, words)])
    assert ended.value.code == code, words


def test_the_report_has_every_claim_and_the_counts(tmp_path):
    """Built from the published verdicts, as CI does."""
    page = tmp_path / "all.html"
    cli("paper", "--claims", RESULTS, "-o", page)
    text = page.read_text()
    from markupsafe import escape

    for claim in CLAIMS:
        assert str(escape(claim.claim)) in text
    papers = counts(CLAIMS).papers
    assert f"Claims of the papers: {sum(papers.values())} (holds {papers['holds']}," in text
    assert text.count("<svg ") >= 3  # a forest a paper
    assert "http" not in text.replace("http://www.w3.org/2000/svg", "")
    assert "exact one-sided binomial" in text or "sign" in text  # how claims were decided


def test_the_report_from_published_rows_is_that_of_the_results_file(tmp_path):
    (rows := tmp_path / "rows").mkdir()
    shutil.copy(ROOT / "results/stages.parquet", rows)
    for source in (("--rows", rows), ("--claims", RESULTS)):
        cli("paper", "stages", *source, "-o", tmp_path / f"{source[0]}.html")
    tables = [(tmp_path / f"{name}.html").read_text().partition("<table")[2] for name in ("--rows", "--claims")]
    cut = [text.partition('<p class="soft">Written')[0].replace("hours", "") for text in tables]
    for claim in CLAIMS:
        if claim.recipe == "stages":
            assert all(claim.unit in text for text in cut)


@pytest.mark.skipif(not shutil.which("chromium"), reason="takes Chromium")
def test_it_is_printed(tmp_path):
    cli("paper", "stages", "--claims", RESULTS, "--pdf", "-o", tmp_path / "one.html")
    assert (tmp_path / "one.pdf").read_bytes().startswith(b"%PDF")


def test_an_identifier_is_of_the_claim_alone():
    from dataclasses import replace

    claim = CLAIMS[0]
    assert identifier(claim) == f"{claim.recipe}-{hashlib.sha256(claim.claim.encode()).hexdigest()[:10]}"
    assert identifier(replace(claim, verdict="contradicted", effect=None)) == identifier(claim)
    assert len({identifier(each) for each in CLAIMS}) == len(CLAIMS)


def test_the_words_of_open_reproductions():
    found = {(c.verdict, c.source): word(c) for c in CLAIMS}
    assert found["holds", "paper"].startswith("verified")
    assert found["contradicted", "paper"] == "falsified, toy"  # all of them in a smaller setting
    assert found["inconclusive", "own"] == "inconclusive"


def test_a_logbook_has_a_page_a_recipe_and_a_cell_a_claim(tmp_path):
    """As trackio 0.43 writes them; `trackio logbook sync` and `read` were tried on it."""
    cli("export", "logbook", tmp_path, "--claims", RESULTS)
    root = tmp_path / ".trackio/logbook"
    manifest = json.loads((root / "logbook.json").read_text())
    assert manifest["schema_version"] == 2
    cells = 0
    for page in manifest["root"]["children"]:
        text = (root / page["file"]).read_text()
        assert text.startswith(f"# {page['title']}: ")
        for head in text.split("<!-- trackio-cell\n")[1:]:
            cell = json.loads(head.partition("\n-->")[0])
            assert cell["type"] == "markdown"
            cells += 1
    assert cells == len(CLAIMS)
    cli("export", "logbook", tmp_path, "--claims", RESULTS, code=2)  # there is one


def test_a_crate_says_what_its_files_are(tmp_path):
    (rows := tmp_path / "rows").mkdir()
    shutil.copy(ROOT / "results/stages.parquet", rows)
    cli("export", "crate", tmp_path / "crate", "--claims", RESULTS, "--rows", rows)
    data = json.loads((tmp_path / "crate/ro-crate-metadata.json").read_text())
    by_id = {each["@id"]: each for each in data["@graph"]}
    assert by_id["ro-crate-metadata.json"]["about"] == {"@id": "./"}
    for part in by_id["./"]["hasPart"]:
        assert (tmp_path / "crate" / part["@id"]).is_file()
        assert part["@id"] in by_id
    assert len(by_id["./"]["mentions"]) == len(CLAIMS)
    assert json.loads((tmp_path / "crate/claims.json").read_text())["claims"][0]["recipe"] == CLAIMS[0].recipe


def test_a_forest_has_a_line_for_each_ratio():
    ratios = [c for c in CLAIMS if c.ratio and c.effect]
    assert forest(CLAIMS, "all").count("<circle") == len(ratios) + len({c.verdict for c in ratios})
    assert forest([c for c in CLAIMS if not c.ratio], "none") == ""


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("paper", "--claims", "nothing.json"), "no document"),
        (("paper", "--claims", RESULTS, "-o", "page.pdf"), "ends in .html"),
        (("paper", "stage", "--claims", RESULTS), "Did you mean 'stages'"),
        (("paper", "--out", "nowhere"), "no store there"),
        (("paper", "--rows", "nowhere"), "nowhere"),
        (("export", "crate", ROOT / "docs", "--claims", RESULTS), "is not empty"),
    ],
)
def test_mistakes_are_one_line(words, said, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    cli(*words, code=2)
    err = capsys.readouterr().err
    assert said in err
    assert len(err.strip().splitlines()) == 1


@pytest.mark.parametrize("form", ["crate", "logbook"])
def test_nothing_is_exported_where_nothing_is_decided(form, tmp_path, capsys):
    """A crate was written of claims that nobody had run."""
    claims = [{**replace(each, verdict="not run").as_json(), "seeds_needed": None} for each in CLAIMS[:2]]
    (tmp_path / "claims.json").write_text(json.dumps({"claims": claims, "runs": {}}))
    cli("export", form, tmp_path / "into", "--claims", tmp_path / "claims.json", code=2)
    assert "none of these claims is decided" in capsys.readouterr().err
    assert not (tmp_path / "into").exists()
