"""Writes Markdown with a sentence a line, none longer than 120 letters: `python packaging/sentences.py FILE.md ...`.

Tables, code, headings, HTML, directives and lines with a long link stay as they are.
"""

import re
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

WIDTH = 120
SHORT = ("e.g", "i.e", "fig", "figs", "eq", "sec", "cf", "vs", "p", "pp", "no", "al", "resp", "approx", "cor", "app")
NOT_AN_END = re.compile(rf"(\b({'|'.join(map(re.escape, SHORT))})\.|\b[A-Z]\.)$", re.IGNORECASE)
STARTS = re.compile(r"^(\s*)([-*+]|\d+\.)\s+")
WOULD_BEGIN, GLUE = re.compile(r" (?=[%#>|]|[-+*]\s|\d+\.\s)"), "\x01"
"""A space before what would begin a comment, heading, quotation or list at the start of a line; its stand-in."""
VERBATIM = re.compile(r"^\s*(\||#|>|<|:|\(.*\)=\s*$|!\[|\$\$|---|\{)")


def sentences(text: str) -> list[str]:
    """A paragraph's sentences."""
    found, start = [], 0
    for end in re.finditer(r"[.!?](?:[)\]*\"”’]*)\s+(?=[A-Z*`\[(“\"$\d])", text):
        said = text[start : end.end()].strip()
        if NOT_AN_END.search(said) or said.count("`") % 2 or said.count("(") > said.count(")"):
            continue
        if said.count("[") > said.count("]"):
            continue
        found.append(said)
        start = end.end()
    return [*found, text[start:].strip()] if text[start:].strip() else found


def paragraph(lines: list[str]) -> Iterator[str]:
    """The lines of a paragraph or a list item, written anew."""
    item = STARTS.match(lines[0])
    first = item.group(0) if item else re.match(r"\s*", lines[0]).group(0)  # type: ignore[union-attr]
    rest = " " * len(first)
    text = " ".join([lines[0][len(first) :].strip(), *(line.strip() for line in lines[1:])])
    for i, sentence in enumerate(sentences(text)):
        for line in textwrap.wrap(
            WOULD_BEGIN.sub(GLUE, sentence),
            WIDTH,
            initial_indent=rest if i else first,
            subsequent_indent=rest,
            break_long_words=False,
            break_on_hyphens=False,
        ):
            yield line.replace(GLUE, " ")


def written(text: str) -> str:
    """The whole document."""
    found: list[str] = []
    held: list[str] = []

    def flush() -> None:
        if held:
            found.extend(paragraph(held))
            held.clear()

    fence = ""
    for line in text.splitlines():
        mark = re.match(r"\s*(`{3,}|:{3,}|\$\$)", line)
        if fence or mark:
            flush()
            found.append(line)
            if fence and line.strip().startswith(fence) and line.strip().strip(fence[0]) == "":
                fence = ""
            elif not fence and mark and not (mark[1] == "$$" and line.strip().endswith("$$") and len(line.strip()) > 2):
                fence = mark[1]
            continue
        if not line.strip() or VERBATIM.match(line) or line.endswith("  "):
            flush()
            found.append(line)
            continue
        if STARTS.match(line):
            flush()
        held.append(line)
    flush()
    return "\n".join(found) + "\n"


if __name__ == "__main__":
    for name in sys.argv[1:]:
        file = Path(name)
        file.write_text(written(file.read_text(encoding="utf-8")), encoding="utf-8")
