"""Where a page may be written: a file that somebody named, and that is nobody else's."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

from lopsided.core.errors import InputError

MARK = '<meta name="generator" content="lopsided">'
"""What every page of this package has in its head."""
HEAD = 2_000
"""Bytes in which a page has said whose it is."""


def require_page(page: Path, folder: Path | None = None) -> None:
    """Raise `InputError` unless `page` can be written: an HTML file that is new, or that this package wrote before.
    `folder`: the store that the page is about, whose earlier report alone it may replace."""
    if page.is_dir() or not page.name:
        raise InputError(f"--output {str(page)!r}: is a folder; name a file")
    if page.suffix.lower() not in (".html", ".htm"):
        raise InputError(f"--output {str(page)!r}: a report is an HTML page; name a file that ends in .html")
    if not page.exists():
        if any(each.is_file() for each in (page.parent / f"{page.stem}-files").glob("**/*")):
            beside = f"the folder {page.stem}-files beside it has files already, which would be replaced"
            raise InputError(f"--output {str(page)!r}: {beside}; name another, or remove it")
        return
    try:
        with page.open("rb") as opened:
            head = opened.read(HEAD).decode(errors="replace")
    except OSError as error:
        raise InputError(f"--output {str(page)!r}: cannot be read ({error.strerror or error}); name another") from None
    if MARK not in head:
        raise InputError(f"--output {str(page)!r}: exists and is no page of lopsided; name another, or remove it")
    if folder is not None and of_folder(folder) not in head:
        raise InputError(f"--output {str(page)!r}: exists and is no report of this folder; name another, or remove it")


def of_folder(folder: Path) -> str:
    """The line by which a report says which store it is of, without a path that would say who somebody is."""
    digest = sha256(str(folder.resolve()).encode()).hexdigest()[:16]
    return f'<meta name="lopsided-folder" content="{digest}">'
