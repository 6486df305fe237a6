"""Pieces of text, from which documents are put together, and the tokens that each piece is cut into.

A piece is a fragment of a template (`. There are`) or what fills a slot (` apples`, ` 12`). A document is a sequence of
piece numbers; the table here turns it into tokens. Piece 0 is empty.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

import numpy as np

from lopsided.core.errors import InputError
from lopsided.text.cutting import Cutting, cutting_of

END = "<|endoftext|>"
"""The piece that ends a document where the task has no sign of its own for it."""


class Pieces:
    """A table of pieces. Texts are numbered in the order of their first appearance; `pieces[text]` is the number."""

    def __init__(self, texts: Iterable[str], cutting: str, aliases: Mapping[str, str] | None = None):
        """`cutting` names how pieces are cut (`lopsided.text.cutting`). Where a piece is one token, those in `aliases`
        share the token of another piece: `The teacher of` and ` the teacher of`."""
        self.texts: tuple[str, ...] = ("", *dict.fromkeys(text for text in texts if text))
        self._number = {text: i for i, text in enumerate(self.texts)}
        self.cutting: Cutting = cutting_of(cutting, aliases or {})
        cut = [self.cutting.cut(text) for text in self.texts]
        self.length = np.array([len(tokens) for tokens in cut], np.int32)
        self.start = (np.cumsum(self.length) - self.length).astype(np.int32)
        self.flat = np.array([token for tokens in cut for token in tokens], np.int32)
        self.vocabulary = self.cutting.size

    def __getitem__(self, text: str) -> int:
        return self._number[text]

    def several(self, texts: Sequence[str]) -> np.ndarray:
        """Numbers of several pieces, int32."""
        return np.array([self._number[text] for text in texts], np.int32)

    def decode(self, tokens: Sequence[int]) -> str:
        """The text of some tokens, as a person reads it: without a space before it, its first letter a capital."""
        text = self.cutting.decode([int(t) for t in tokens]).lstrip(" ")
        return text[:1].upper() + text[1:]

    @cached_property
    def encoded(self) -> dict[str, tuple[int, ...]]:
        """Tokens of every piece by its text."""
        ends = self.start + self.length
        return {t: tuple(self.flat[a:b].tolist()) for t, a, b in zip(self.texts, self.start, ends, strict=True)}

    def tokens(self, texts: Iterable[str]) -> list[int]:
        """Tokens of a document given as the texts of its pieces. Raises `InputError` for an unknown piece."""
        found: list[int] = []
        for text in texts:
            if text not in self.encoded:
                raise InputError(f"piece {text!r}: is not in the table")
            found += self.encoded[text]
        return found
