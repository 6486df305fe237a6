"""`lopsided paper` and `lopsided export`: what was decided, as a report to read and as files for other tools."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from lopsided.cli.check import document_of
from lopsided.cli.options import OUT, Out
from lopsided.core.errors import InputError
from lopsided.core.json_text import parsed

Claims = Annotated[Path | None, Parameter(name="--claims")]


def paper(
    *recipes: str,
    out: Out = OUT,
    rows: Path | None = None,
    claims: Claims = None,
    figures: Path | None = None,
    output: Annotated[Path, Parameter(name=["--output", "-o"])] = Path("replication.html"),
    pdf: Annotated[bool, Parameter(negative="")] = False,
) -> None:
    """Write a replication report: for each paper its claims with effect, interval, setting, verdict and history.

    Parameters
    ----------
    recipes
        Names of recipes; all of them if left out.
    rows
        A folder of published rows, NAME.parquet each, in place of a store.
    claims
        A file that `lopsided check --json` wrote, in place of a store.
    figures
        A folder with NAME.png for each recipe.
    output
        Page to write.
    pdf
        Print the page into a PDF beside it, too, with the browser of this machine.
    """
    from lopsided.core.registry import registered
    from lopsided.report.page_file import require_page
    from lopsided.report.replication import as_pdf, write_replication

    require_page(output)
    document = _document(recipes, out, rows, claims)
    print(write_replication(output, registered("recipe"), document, figures))
    if pdf:
        print(as_pdf(output))


def export(
    form: Literal["logbook", "crate"],
    folder: Path,
    /,
    *recipes: str,
    out: Out = OUT,
    rows: Path | None = None,
    claims: Claims = None,
) -> None:
    """Write what was decided for other tools: a Trackio logbook (a page a recipe), or an RO-Crate of claims and rows.

    Parameters
    ----------
    form
        `logbook` or `crate`.
    folder
        Folder to write into: for a crate an empty one.
    recipes
        Names of recipes; all of them if left out.
    rows
        A folder of published rows, NAME.parquet each, in place of a store; a crate holds a copy of them.
    claims
        A file that `lopsided check --json` wrote, in place of a store.
    """
    from lopsided.core.registry import registered
    from lopsided.export.crate import write_crate
    from lopsided.export.logbook import write_logbook

    document = _document(recipes, out, rows, claims)
    if form == "crate":
        print(write_crate(folder, document, rows))
    else:
        print(write_logbook(folder, document, registered("recipe")))


def _document(names: tuple[str, ...], out: Path, rows: Path | None, claims: Path | None) -> dict[str, Any]:
    """What `lopsided check --json` prints of these recipes, or what it has written into a file."""
    if claims is None:
        return document_of(names, out, rows)
    if rows is not None and not rows.is_dir():
        raise InputError(f"--rows {str(rows)!r}: is no folder")
    from lopsided.report.schema import require_claims
    from lopsided.study.targets import find

    asked = {find(name).name for name in names}
    try:
        document = parsed(claims.read_text(encoding="utf-8"))
        every, runs = list(document["claims"]), dict(document["runs"])
        require_claims(every)
        if any(not isinstance(run, dict) for run in runs.values()):
            raise TypeError("runs")
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"--claims {str(claims)!r}: no document of `lopsided check --json` ({error!r:.80})") from None
    kept = [each for each in every if not asked or each["recipe"] in asked]
    return {**document, "claims": kept, "runs": {k: v for k, v in runs.items() if not asked or k in asked}}
