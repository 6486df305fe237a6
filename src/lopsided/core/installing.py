"""How to install what is missing, from where this package itself came."""

from __future__ import annotations

from importlib import metadata
from urllib.parse import unquote, urlparse

from lopsided.core.json_text import parsed


def install(extra: str) -> str:
    """The command that adds an extra, from where pip installed this package: a folder, a wheel, or the index."""
    try:
        text = metadata.distribution("lopsided").read_text("direct_url.json")
        url = parsed(text or "{}").get("url", "")
    except (metadata.PackageNotFoundError, ValueError, AttributeError):
        url = ""
    if not url:
        return f"pip install 'lopsided[{extra}]'"
    if url.endswith((".whl", ".tar.gz")) or not url.startswith("file:"):
        return f"pip install 'lopsided[{extra}] @ {url}'"
    return f"pip install '{unquote(urlparse(url).path)}[{extra}]'"
