"""How a piece of text is cut into tokens.

`phrases`   every piece is one token; the shortest rows, for small machines
`words`     words with the space before them; digits, marks and single spaces are tokens of their own
`gpt2`, `qwen3`   as GPT-2's or Qwen3's tokenizer cuts the text, names and the like being single tokens added to it
FILE.json   a `tokenizer.json`, read by Hugging Face's `tokenizers` (an extra); token numbers are the file's

The first four number their tokens in the order of their appearance, so that the vocabulary holds what the task uses and
nothing else.
"""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from pathlib import Path

from lopsided.core.errors import InputError

NAMES = ("phrases", "words", "gpt2", "qwen3")
WORD = re.compile(r"<\|[a-z]+\|>| ?[A-Za-z]+(?:'[a-z]+)?|\d| ?[^\sA-Za-z\d]+|\n|\s")


class Cutting(ABC):
    """Texts to token numbers and back."""

    @property
    @abstractmethod
    def size(self) -> int:
        """Size of the vocabulary."""

    @abstractmethod
    def cut(self, text: str) -> list[int]:
        """Tokens of a piece."""

    @abstractmethod
    def decode(self, tokens: Sequence[int]) -> str:
        """The text of tokens."""


class Compact(Cutting):
    """Tokens are numbered as they come; 0 is padding, which has no text."""

    def __init__(self) -> None:
        self._number: dict[str, int] = {"": 0}
        self._texts: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        return len(self._number)

    def cut(self, text: str) -> list[int]:
        return [self._number.setdefault(token, len(self._number)) for token in self.split(text)]

    def decode(self, tokens: Sequence[int]) -> str:
        if len(self._texts) < len(self._number):
            self._texts = tuple(self._number)
        return "".join([self._texts[t] for t in tokens])

    @abstractmethod
    def split(self, text: str) -> Sequence[str]:
        """Texts of the tokens of a piece."""


class Phrases(Compact):
    """One token each."""

    def __init__(self, aliases: Mapping[str, str]) -> None:
        super().__init__()
        self._aliases = aliases

    def split(self, text: str) -> Sequence[str]:
        return [self._aliases.get(text, text)] if text else []

    def decode(self, tokens: Sequence[int]) -> str:
        return super().decode(tokens).replace("( ", "(")


class Words(Compact):
    """Words with the space before them."""

    def split(self, text: str) -> Sequence[str]:
        return WORD.findall(text)


class Listed(Compact):
    """Pieces as a list says, made from the tokenizer of that name (`tests/reference/segmentation.py`)."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name, self._list = name, listed(name)

    def split(self, text: str) -> Sequence[str]:
        if not text:
            return []
        if text not in self._list:
            raise InputError(
                f"tokens = {self._name!r}: its list has no piece {text!r}; valid: phrases, words, FILE.json"
            )
        return self._list[text]


class OfFile(Cutting):
    """A `tokenizer.json`."""

    def __init__(self, path: str) -> None:
        try:
            from tokenizers import Tokenizer
        except ImportError:
            raise InputError(f"tokens = {path!r}: reading it takes `pip install tokenizers`") from None
        try:
            self._tokenizer = Tokenizer.from_file(path)
        except Exception as error:  # the library raises plain exceptions
            raise InputError(f"tokens = {path!r}: cannot be read as a tokenizer.json ({error})") from None

    @property
    def size(self) -> int:
        return self._tokenizer.get_vocab_size(with_added_tokens=True)

    def cut(self, text: str) -> list[int]:
        return self._tokenizer.encode(text, add_special_tokens=False).ids

    def decode(self, tokens: Sequence[int]) -> str:
        return self._tokenizer.decode(list(tokens), skip_special_tokens=False)


def cutting_of(name: str, aliases: Mapping[str, str]) -> Cutting:
    """A fresh cutting of that name."""
    if name == "phrases":
        return Phrases(aliases)
    if name == "words":
        return Words()
    if name in NAMES:
        return Listed(name)
    check(name)
    return OfFile(name)


def check(name: str) -> None:
    """Raise `InputError` unless the name is one of `NAMES` or a file."""
    if name not in NAMES and not (name.endswith(".json") and Path(name).is_file()):
        raise InputError(f"tokens = {name!r}: valid: {', '.join(NAMES)}, or the path of a tokenizer.json")


@cache
def listed(name: str) -> dict[str, list[str]]:
    """Cut pieces by text."""
    return json.loads(resources.files("lopsided.text").joinpath(f"{name}.json").read_text(encoding="utf-8"))
