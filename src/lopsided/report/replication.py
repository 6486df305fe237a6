"""A replication report: what papers say, what was measured and how it was decided, as one page to read or print."""

from __future__ import annotations

import base64
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lopsided.claims import deciding
from lopsided.claims.counts import counts
from lopsided.core.errors import InputError
from lopsided.report.forest import forest
from lopsided.report.html import write_page
from lopsided.report.words import counts_text, setting_text
from lopsided.stats.verdict import Claim
from lopsided.store.status import TIMES

VERDICTS = ("holds", "contradicted", "negligible", "inconclusive", "not run")
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")


def write_replication(
    path: Path, recipes: Mapping[str, Any], document: Mapping[str, Any], figures: Path | None = None
) -> Path:
    """Write the page. `document` is what `lopsided check --json` prints, `recipes` are the recipes by name, `figures` a
    folder with NAME.png."""
    claims = [Claim.of_json(each) for each in document["claims"]]
    papers: dict[str, list[dict[str, Any]]] = {}
    for name in dict.fromkeys(claim.recipe for claim in claims):
        mine = [claim for claim in claims if claim.recipe == name]
        if name in recipes and any(claim.verdict != "not run" for claim in mine):
            run = document["runs"].get(name, {})
            papers.setdefault(recipes[name].paper, []).append(_section(recipes[name], mine, run, figures))
    if not papers:
        raise InputError("paper: none of these claims has been decided; `lopsided run RECIPE` decides some")
    chapters = [_chapter(paper, sections) for paper, sections in sorted(papers.items(), key=_by_letter)]
    decided = [claim for chapter in chapters for claim in chapter["claims"]]
    return write_page(
        path,
        "replication.html.jinja",
        chapters=chapters,
        verdicts=VERDICTS,
        counts=counts_text(counts(decided)),
        methods=_methods(decided),
    )


def _by_letter(item: tuple[str, Any]) -> tuple[int, str]:
    """Papers that a recipe is about alone come before those of two."""
    return len(item[0].partition(":")[0]), item[0]


def _section(recipe: Any, claims: Sequence[Claim], run: Mapping[str, Any], figures: Path | None) -> dict[str, Any]:
    made = run.get("made", [])
    seconds = sum(m.get("took", {}).get(part) or 0.0 for m in made for part in TIMES)
    picture = figures / f"{recipe.name}.png" if figures else None
    head, _, about = (recipe.about or "").strip().partition("\n")
    return {
        "recipe": recipe,
        "head": head.partition(": ")[2],
        "about": re.sub(r"    lopsided run .*\n\n", "", about).strip(),
        "claims": claims,
        "scale": run.get("scale", ""),
        "seeds": run.get("seeds"),
        "hours": seconds / 3600,
        "picture": base64.b64encode(picture.read_bytes()).decode() if picture and picture.is_file() else "",
    }


def _chapter(paper: str, sections: Sequence[dict[str, Any]]) -> dict[str, Any]:
    claims = [claim for section in sections for claim in section["claims"]]
    theirs = [claim for claim in claims if claim.source == "paper"]
    return {
        "paper": paper,
        "sections": sections,
        "claims": claims,
        "numbers": [sum(claim.verdict == verdict for claim in theirs) for verdict in VERDICTS],
        "own": sum(claim.source == "own" for claim in claims),
        "against": [claim for claim in theirs if claim.verdict == "contradicted"],
        "far": sum(bool(setting_text(claim)) for claim in theirs),
        "hours": sum(section["hours"] for section in sections),
        "forest": forest(theirs, "Claims about a ratio, as the paper words them"),
    }


def _methods(claims: Sequence[Claim]) -> list[tuple[str, str]]:
    """What the code says of its own tests: how a recipe is decided, and each kind of test that these claims use."""
    from lopsided.claims import kind as kinds
    from lopsided.claims import settled, several, slopes, times, values

    said = {}
    for module in (kinds, settled, several, slopes, times, values):
        for each in vars(module).values():
            name = getattr(each, "kind", None)
            if isinstance(each, type) and isinstance(name, str) and each.__doc__:
                said[name] = " ".join(each.__doc__.split())
    used = dict.fromkeys(claim.kind for claim in claims)
    general = " ".join((deciding.decide.__doc__ or "").partition("\n")[2].split())
    return [("all", general), *((name, said[name]) for name in used if name in said)]


def as_pdf(page: Path) -> Path:
    """Print a page with the browser of this machine. Raises `InputError` where there is none."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        raise InputError(f"--pdf: takes Chromium or Chrome on the path; {page} is written, and any browser prints it")
    found = page.with_suffix(".pdf")
    with tempfile.TemporaryDirectory() as profile:
        command = [browser, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}"]
        done = subprocess.run(
            [*command, "--no-pdf-header-footer", f"--print-to-pdf={found}", page.resolve().as_uri()],
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode or not found.is_file():
        raise InputError(f"--pdf: {browser} could not print {page}: {done.stderr.strip().splitlines()[-1:]}")
    return found
