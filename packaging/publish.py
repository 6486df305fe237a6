"""Puts what a folder says about recipes into the checkout: `python packaging/publish.py FOLDER NAME ...`.

Verdicts go into docs/results.json, figures into docs/figures, rows into results, counts into README.md, and into the
pages those effects that one claim alone can have meant. A folder of runs at the scale `paper`: verdicts go into
docs/paper-results.json, rows into results/paper. What a person has to read again is printed: verdicts that
changed, and effects that several claims can have meant. (Afterwards `python packaging/common_rates.py`, for paper C.)
"""

import hashlib
import json
import re
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import sentences

from lopsided.claims.counts import Counts, counts
from lopsided.core.registry import registered
from lopsided.report.as_json import as_text
from lopsided.report.words import effect_text
from lopsided.stats.verdict import Claim
from lopsided.store.parts import Store
from lopsided.study.checking import Checked, claims_of, found_in
from lopsided.study.manifest import recorded
from lopsided.study.publishing import publish
from lopsided.study.reports import made, write_report

ROOT = Path(__file__).parents[1]
RESULTS, AT_PAPER_SCALE = ROOT / "docs/results.json", ROOT / "docs/paper-results.json"
PAGES = (
    "frequency",
    "strength",
    "repetition",
    "repetition-transformers",
    "language",
    "plane",
    "answers",
    "annealing",
    "release-0.1.0",
)
EFFECT = re.compile(r"[−-]?[\d.,]*\d\s\[[^\]\s]+,\s[^\]\s]+\]")
"""`12.1 [8.0, 16.4]`, as tests/arch/test_readme.py reads it."""


def main(folder: Path, names: Sequence[str]) -> None:
    """Publish these recipes; the file of verdicts is written once all of them are read."""
    store = Store(folder)
    every = {name: claims_of(registered("recipe")[name], recorded(store), store) for name in names}
    if missing := [name for name, found in every.items() if found.run is None]:
        sys.exit(f"{', '.join(missing)}: no complete run in {folder}")
    if all(found.run is not None and found.run.scale == "paper" for found in every.values()):
        at_paper_scale(store, every)
        list_digests()
        return
    document = json.loads(RESULTS.read_text())
    before = {name: [c for c in document["claims"] if c["recipe"] == name] for name in registered("recipe")}
    after = dict(before)
    for name, found in every.items():
        assert found.run is not None
        after[name] = as_rows(found)
        page = folder / "reports" / found.run.label / "index.html"
        write_report(store, [found_in(found.run, store)], page)
        shutil.copyfile(page.parent / "figure.png", ROOT / f"docs/figures/{name}.png")
        publish(registered("recipe")[name], store, ROOT / "results")
        document["runs"][name] = {"scale": found.run.scale, "seeds": found.seeds, "made": made(store, found.run)}
        for line in changed(before[name], after[name]):
            print(f"{name}: {line}", flush=True)
    list_digests()
    document["claims"] = [claim for name in after for claim in after[name]]
    document["counts"] = counts(map(Claim.of_json, document["claims"])).as_json()
    RESULTS.write_text(as_text(document) + "\n")
    counted(counts(map(Claim.of_json, document["claims"])))
    for page in [ROOT / "README.md", *(ROOT / f"docs/{name}.md" for name in PAGES)]:
        rewrite(page, {name: (before[name], after[name]) for name in names})


def at_paper_scale(store: Store, every: Mapping[str, Checked]) -> None:
    """Publish verdicts and rows of runs at the papers' own numbers."""
    document = json.loads(AT_PAPER_SCALE.read_text())
    kept = [claim for claim in document["claims"] if claim["recipe"] not in every]
    for name, found in every.items():
        assert found.run is not None
        kept += as_rows(found)
        publish(registered("recipe")[name], store, ROOT / "results/paper")
        document["runs"][name] = {"scale": "paper", "seeds": found.seeds, "made": made(store, found.run)}
    document["claims"] = kept
    document["counts"] = counts(map(Claim.of_json, kept)).as_json()
    AT_PAPER_SCALE.write_text(as_text(document) + "\n")


def list_digests() -> None:
    """Write results/SHA256SUMS, by which `sha256sum -c` finds a file of rows that changed since it was published (the
    digest inside a file is of members, steps and numbers, not of arrays, samples and times)."""
    files = sorted((ROOT / "results").rglob("*.parquet"))
    lines = [f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.relative_to(ROOT / 'results')}" for file in files]
    (ROOT / "results/SHA256SUMS").write_text("\n".join(lines) + "\n")


def as_rows(found: Checked) -> list[dict[str, Any]]:
    """Claims as the files have them."""
    return [{**claim.as_json(), "seeds_needed": n} for claim, n in zip(found.claims, found.needed, strict=True)]


def changed(before: Sequence[Mapping[str, Any]], after: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Lines about claims whose verdict is another one, or that are new; none for a recipe that is new."""
    if not before:
        return
    old = before_by_claim(before)
    for new in map(Claim.of_json, after):
        if new.claim not in old:
            yield f"{new.claim}: new, {new.verdict} {effect_text(new)}"
            continue
        then = Claim.of_json(dict(old[new.claim]))
        if then.verdict != new.verdict:
            yield f"{new.claim}: {then.verdict} {effect_text(then)} → {new.verdict} {effect_text(new)}"


def before_by_claim(before: Sequence[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """Published entries by their claim's sentence."""
    return {each["claim"]: each for each in before}


def in_both(
    before: Sequence[Mapping[str, Any]], after: Sequence[Mapping[str, Any]]
) -> list[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    """Old and new entry of each claim that was published before."""
    old = before_by_claim(before)
    return [(old[each["claim"]], each) for each in after if each["claim"] in old]


def counted(found: Counts) -> None:
    """Write the counts into README.md, whose sentences tests/arch/test_readme.py has word for word."""
    verdicts = ("holds", "contradicted", "negligible", "inconclusive")
    papers, own = ([kind[verdict] for verdict in verdicts] for kind in (found.papers, found.own))
    patterns = {
        r"\d+ claims were \[tested\]": (sum(papers) + sum(own),),
        r"all \d+ recipes": (len(registered("recipe")),),
        r"\d+ recipes have \[published rows\]": (len(list((ROOT / "results").glob("*.parquet"))),),
        r"Of \d+ claims of the papers \d+ hold, \d+ are contradicted, \d+ are of a negligible difference, \d+ are "
        r"open; of \d+ of our own \d+, \d+, \d+ and \d+\.": (sum(papers), *papers, sum(own), *own),
        r"\d+ had a test, threshold or setting changed after rows had been seen, \d+ rest on rows of several versions "
        r"of the code, \d+ could hardly fail\.": (found.with_history, found.several_versions, found.near_trivial),
    }
    text = (ROOT / "README.md").read_text()
    for sentence, numbers in patterns.items():
        (said,) = re.findall(sentence.replace(" ", r"\s"), text)
        following = iter(numbers)
        text = text.replace(said, re.sub(r"\d+", lambda _, n=following: str(next(n)), said))
    (ROOT / "README.md").write_text(text)


def rewrite(page: Path, claims: Mapping[str, tuple[Sequence[Mapping[str, Any]], Sequence[Mapping[str, Any]]]]) -> None:
    """Write the effects of a page anew whose text is that of one claim before; print those of several."""
    claims = {name: pair for name, pair in claims.items() if pair[0]}
    text = page.read_text()
    for said in dict.fromkeys(EFFECT.findall(text)):
        write = written(said)
        meant = {
            write(new)
            for before, after in claims.values()
            for old, new in in_both(before, after)
            if write(old) == " ".join(said.split())
        }
        (only, *others) = meant or {said}
        if others or only is None:  # an end that is not known cannot be written in the place of a number
            print(f"{page.name}: {said} was of {len(meant)} claims, now {', '.join(map(str, meant))}")
        else:
            text = text.replace(said, only)
    page.write_text(sentences.written(text) if text != page.read_text() else text)


def written(like: str):
    """Return a function that writes a claim's effect and interval with the digits and the sign of another text."""
    digits = [len(number.partition(".")[2]) for number in re.findall(r"[\d.,]*\d", like)]

    def write(data: Mapping[str, Any]) -> str | None:
        claim = Claim.of_json(dict(data))
        values = (claim.effect, *claim.interval)
        if None in values or len(digits) != 3:
            return None
        effect, low, high = (f"{value:,.{n}f}" for value, n in zip(values, digits, strict=True))
        return f"{effect} [{low}, {high}]"

    return write


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
