"""Texts as points: TF-IDF, and its strongest directions."""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import compress, islice
from typing import Any, NamedTuple

import numpy as np

from lopsided.core.errors import InputError
from lopsided.core.installing import install

FITTED = 50_000
"""Texts that vocabulary and directions are fitted to: a bound on memory. Not varied."""
TERMS, DIRECTIONS = 30_000, 64
"""Enough for 40 topics in trials (docs/log). Not varied."""
CHUNK = 20_000
"""Texts that are made points at a time, so that their table of terms stays small."""
FEW = 0.01
"""Share of texts that may be left without a term because their words are common ones. Not varied."""
COMMON = 0.4
"""A term of a larger share of the texts says nothing about their topic, in any language."""


@dataclass(frozen=True)
class TextSource:
    """Texts that are read as often as needed, and what a first look through them found."""

    source: Iterable[str]
    """Begins anew with each `iter`."""
    number: int
    duplicates: int
    """How many equal an earlier one but for case, spaces and digits."""

    def __iter__(self) -> Iterator[str]:
        return iter(self.source)


class UnitVectors(NamedTuple):
    """N texts or embeddings as unit vectors."""

    vectors: np.ndarray
    """(N, D) float32, rows of length 1."""
    terms: Callable[[np.ndarray], list[list[str]]] | None = None
    """The telling terms of each of k clusters, from the cluster of each fitted text; None for embeddings."""
    fitted: np.ndarray | None = None
    """Rows that the terms are of."""


def sklearn() -> Any:
    """scikit-learn. Raises `InputError` if it is not installed."""
    try:
        import sklearn
    except ImportError:
        raise InputError(f"skills: takes scikit-learn; {install('skills')}") from None
    return sklearn


def looked_through(texts: Iterable[str]) -> TextSource:
    """The texts, counted. Raises `InputError` for what is no text, for empty ones alone, and for what can be read only
    once."""
    if iter(texts) is texts:
        raise InputError(
            f"texts: a {type(texts).__name__} is read only once; give a list, or what begins anew with each iter"
        )
    empty, number, seen = True, 0, array("q")
    for text in texts:
        if not isinstance(text, str):
            raise InputError(f"texts: row {number:,} is a {type(text).__name__}, not a text")
        if text.strip():
            seen.append(hash(re.sub(r"[\d\s]+", " ", text).strip().lower()))
        number, empty = number + 1, empty and not text.strip()
    if empty:
        raise InputError("texts: all of them are empty")
    return TextSource(texts, number, len(seen) - len(np.unique(np.frombuffer(seen, np.int64))))


def _silent(table: Any) -> float:
    """The share of texts of which no term is in the table."""
    return float((np.diff(table.indptr) == 0).mean())


def of_texts(texts: TextSource, seed: int) -> UnitVectors:
    """Raises `InputError` where the texts have no terms to tell them apart."""
    sklearn()
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.preprocessing import normalize

    rows = np.random.default_rng(seed).permutation(texts.number)[:FITTED]
    rows.sort()
    fitted = np.zeros(texts.number, bool)
    fitted[rows] = True

    def read(most: float) -> tuple[Any, Any]:
        vectorizer = TfidfVectorizer(
            max_features=TERMS,
            min_df=2,
            max_df=most,
            sublinear_tf=True,
            dtype=np.float32,  # type: ignore[arg-type]  # annotated as float64 alone
            token_pattern=r"(?u)\b[^\W\d_]{2,}\b",
        )
        return vectorizer, vectorizer.fit_transform(compress(texts, fitted))

    try:
        vectorizer, table = read(COMMON)
    except ValueError:
        raise InputError(
            f"skills: no term is in two of the {texts.number:,} texts and in fewer than {COMMON:.0%} of them; they "
            "are all alike, empty, or share no words (words of letters: digits do not count)"
        ) from None
    if _silent(table) > FEW:  # texts without words, or of a topic that is so large that its words are common
        again = read(1.0)
        if _silent(table) - _silent(again[1]) > FEW:
            vectorizer, table = again
    directions = TruncatedSVD(min(DIRECTIONS, table.shape[1] - 1, max(1, len(rows) - 1)), random_state=seed)
    directions.fit(table)
    parts = [directions.transform(vectorizer.transform(chunk)).astype(np.float32) for chunk in _chunks(texts)]
    names = vectorizer.get_feature_names_out()

    def terms(cluster: np.ndarray) -> list[list[str]]:
        overall = np.asarray(table.mean(0)).ravel()
        found = []
        for c in range(int(cluster.max()) + 1):
            its = cluster == c
            more = np.asarray(table[its].mean(0)).ravel() - overall if its.any() else -overall
            found.append([str(names[j]) for j in np.argsort(-more)[:TOLD] if more[j] > 0])
        return found

    vectors: Any = normalize(np.concatenate(parts), copy=False)
    return UnitVectors(vectors, terms, rows)


TOLD = 5
"""Terms by which a skill is named."""


def of_embeddings(vectors: Any) -> UnitVectors:
    """Raises `InputError` for what is no table of finite numbers."""
    sklearn()
    found = np.asarray(vectors)
    if found.ndim != 2 or found.dtype.kind not in "fiu" or not len(found):
        raise InputError(f"embeddings: valid is a table of numbers, (examples, dimensions), not {found.shape}")
    bad = ~np.isfinite(found).all(1)
    if bad.any():
        raise InputError(f"embeddings: row {int(np.argmax(bad)):,} holds NaN or infinity ({bad.sum():,} rows do)")
    found = found.astype(np.float32 if found.dtype.itemsize <= 4 else np.float64)  # squares of float16 overflow
    length = np.linalg.norm(found, axis=1, keepdims=True)
    return UnitVectors((found / np.where(length > 0, length, 1)).astype(np.float32))


def embedded(texts: Iterable[str], model: Callable[[Sequence[str]], Any]) -> np.ndarray:
    """(texts, dimensions): what `model` gives for the texts, CHUNK at a time. Raises `InputError` for another number of
    rows than it was given texts."""
    parts = []
    for chunk in _chunks(texts):
        part = np.asarray(model(chunk))
        if part.ndim != 2 or len(part) != len(chunk):
            raise InputError(
                f"embeddings: the function gave {part.shape} for {len(chunk):,} texts; valid is (texts, dimensions)"
            )
        parts.append(part)
    return np.concatenate(parts)


def _chunks(texts: Iterable[str]) -> Iterator[Sequence[str]]:
    left = iter(texts)
    while chunk := list(islice(left, CHUNK)):
        yield chunk
