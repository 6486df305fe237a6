"""Lines on stderr, whatever is in them."""

from __future__ import annotations

import sys
from typing import Any


def printable(text: Any) -> str:
    """Text without characters that move a terminal's cursor, set its title or clear it."""
    return "".join(c if c.isprintable() or c in "\n\t" else f"\\x{ord(c):02x}" for c in str(text))


def tell(text: Any) -> None:
    """Print `lopsided: …` on stderr. Names of files and what is in them may be anybody's."""
    print(f"lopsided: {printable(text)}", file=sys.stderr)


def counted(n: int, what: str) -> str:
    """`1 run`, `2 runs`."""
    return f"{n:,} {what}{'' if n == 1 else 's'}"
