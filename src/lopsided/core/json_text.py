"""JSON from outside: of files, tables, arguments and folders that anybody may have written."""

from __future__ import annotations

import json
from typing import Any


def parsed(text: str | bytes, **options: Any) -> Any:
    """The value of a text. Raises `ValueError` for whatever is no JSON; that includes thousands of nested brackets, for
    which Python's own function ends in a `RecursionError`. `options` are that function's."""
    try:
        return json.loads(text, **options)
    except RecursionError:
        raise ValueError("brackets are nested too deeply") from None
