"""Claims as a Trackio logbook: pages with cells, in the words that open reproductions use."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lopsided.core.errors import InputError
from lopsided.report.words import effect_text, how_decided, paper_text, setting_text
from lopsided.stats.verdict import Claim
from lopsided.store.files import replace_text

FAR = "toy"
WORDS = {"holds": "verified", "contradicted": "falsified", "inconclusive": "inconclusive"}
"""Our verdicts in theirs. (They have none for a difference that is too small to matter.)"""


def word(claim: Claim) -> str:
    """The verdict in the words of open reproductions; `toy` is added where the setting is not the paper's."""
    if claim.verdict == "negligible":
        found = "falsified (the difference is too small to matter)"
    else:
        found = WORDS.get(claim.verdict, claim.verdict)
    return f"{found}, {FAR}" if claim.source == "paper" and setting_text(claim) else found


def identifier(claim: Claim) -> str:
    """The name of a claim, which does not change with its verdict: its recipe, and ten digits of its words."""
    return f"{claim.recipe}-{hashlib.sha256(claim.claim.encode()).hexdigest()[:10]}"


def write_logbook(folder: Path, document: Mapping[str, Any], recipes: Mapping[str, Any]) -> Path:
    """Write FOLDER/.trackio/logbook, a page a recipe; `trackio logbook sync` in FOLDER makes its site. Raises
    `InputError` if there is a logbook already."""
    root = folder / ".trackio" / "logbook"
    if root.exists():
        raise InputError(f"export: {str(root)!r} exists; a logbook is written into a folder without one")
    claims = [Claim.of_json(each) for each in document["claims"]]
    names = [n for n in dict.fromkeys(c.recipe for c in claims) if any(
        c.verdict != "not run" for c in claims if c.recipe == n)]  # fmt: skip
    if not names:
        raise InputError("export: none of these claims is decided; nothing to write")
    children = []
    for name in names:
        question = getattr(recipes.get(name), "question", name)
        ours = _ours(recipes.get(name))
        cells = [_cell(claim, document["runs"].get(name, {}), ours) for claim in claims if claim.recipe == name]
        page = root / "pages" / name / "page.md"
        page.parent.mkdir(parents=True)
        replace_text(page, f"# {name}: {question}\n" + "".join(cells))
        children.append({"slug": name, "title": name, "file": f"pages/{name}/page.md", "children": []})
    rows = "\n".join(f"| [{name}](#/{name}) |" for name in names)
    replace_text(root / "pages" / "index.md", f"# {TITLE}\n\n## Pages\n\n| Page |\n| --- |\n{rows}\n")
    manifest = {
        "schema_version": 2,
        "title": TITLE,
        "space_id": None,
        "paper": None,
        "tags": ["lopsided"],
        "root": {"slug": "index", "title": TITLE, "file": "pages/index.md", "children": children},
    }
    replace_text(root / "logbook.json", json.dumps(manifest, indent=2) + "\n")
    return root


TITLE = "How lopsided should training data be? A replication"


def _ours(recipe: Any) -> bool:
    """Whether a recipe is one of this package, that its name runs."""
    return str(getattr(getattr(recipe, "arms", None), "__module__", "")).startswith("lopsided.recipes.")


def _cell(claim: Claim, run: Mapping[str, Any], ours: bool) -> str:
    made = run.get("made") or [{}]
    head = {"type": "markdown", "id": f"cell_{identifier(claim)}", "created_at": made[-1].get("last", ""),
            "title": claim.claim}  # fmt: skip
    code = f"; code: `lopsided run {claim.recipe}`" if ours else "; code: a recipe file of that name"
    lines = [
        f"**{claim.claim}**",
        f"Verdict: **{word(claim)}** (lopsided: {claim.verdict}).",
        f"Measured: {effect_text(claim)}.",
        f"The paper: {paper_text(claim)}.",
        f"Decided by: {how_decided(claim)}." if how_decided(claim) else "",
        f"Setting against the paper's: {setting_text(claim)}." if setting_text(claim) else "",
        f"History: {claim.history}." if claim.history else "",
        f"Claim `{identifier(claim)}`{code}.",
    ]
    body = "\n\n".join(filter(None, lines))
    return f"\n---\n<!-- trackio-cell\n{json.dumps(head, ensure_ascii=False)}\n-->\n{body}\n"
