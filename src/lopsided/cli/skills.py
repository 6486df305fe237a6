"""`lopsided skills`: data without labels; which skills are there?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from lopsided.cli.options import Json
from lopsided.core.errors import InputError
from lopsided.report.as_json import print_json


def skills(
    table: Path,
    /,
    *,
    text: str | None = None,
    embeddings: str | None = None,
    by: Annotated[tuple[str, ...], Parameter(consume_multiple=True, negative="")] = (),
    k: Annotated[int | None, Parameter(name=["-k", "--skills"])] = None,
    seed: int = 0,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    as_json: Json = False,
) -> None:
    """Find skills in data without labels: topics of texts, clusters of embeddings, or columns crossed.

    Parameters
    ----------
    table
        Your examples: a .jsonl, .csv or .parquet file.
    text
        The column of texts. With --by, those that the page shows.
    embeddings
        A column of embeddings of any model, or a .npy file of them; with --text, texts name what is found.
    by
        Columns that say it, crossed: --by source language; of a column of many numbers (a length, a loss), quarters.
    k
        How many skills; left out, as many as halves of the data agree about.
    seed
        The same seed finds the same skills.
    output
        Write the table with a column `skill` more (.parquet, .csv, .jsonl), and beside it a page to look at (.html).
    as_json
        Print one JSON document on stdout, nothing else.
    """
    from lopsided.discovery.tables import of_columns, of_table, require_output, write
    from lopsided.report.page_file import require_page

    if text is None and embeddings is None and not by:
        raise InputError(
            "skills: what are they found in? --text COLUMN, --embeddings COLUMN, or --by COLUMN … that says them"
        )
    if by and (embeddings is not None or k is not None):
        raise InputError("--by: columns say the skills, and how many; it goes with neither --embeddings nor -k")
    if k is not None and k < 2:
        raise InputError(f"-k {k}: at least 2")
    if output is not None:
        require_output(table, output)
        require_page(output.with_suffix(".html"))
    found = of_columns(table, by) if by else of_table(table, text, embeddings, k, seed)
    pages, column = [], "skill"
    if output is not None and found.skills:
        from lopsided.report.skills_page import write_skills

        column = write(found, table, output)
        pages = [output, write_skills(output.with_suffix(".html"), found, table, text)]
    if as_json:
        print_json(
            {
                "skills": [skill._asdict() for skill in found.skills],
                "stability": [each._asdict() for each in found.stability],
                "exponent": found.exponent if found.skills else None,
                "duplicates": found.duplicates,
                "column": column if pages else None,
                "written": [str(path.absolute()) for path in pages],
            }
        )
        return
    print(found)
    if output is not None and not found.skills:
        raise InputError(f"skills: none found, so {str(output)!r} is not written; -k N sets their number")
    for path in pages:
        print(f"Written: {path}" + (f", column {column!r}" if path == output else ""))
    if found.skills and output is None:
        print("`-o NAME.parquet` writes the table with a column `skill`, and a page to look at.")
    if pages:
        print(f"Which shape? lopsided advise {output} --skill {column} --train loop.py --samples N")
