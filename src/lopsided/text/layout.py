"""Documents laid out in rows of tokens.

The token at position t of a row is found by a search for t among the cumulative lengths of the row's pieces, so that a
row is computed from piece numbers without a loop over its documents.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Int

from lopsided.core.batch import Sample
from lopsided.text.pieces import Pieces

COMPARED = 4096
"""Up to so many pairs of a position and a piece are compared one by one; for more, pieces' ends are counted."""


class Document(NamedTuple):
    """One document, or with a leading axis several."""

    pieces: Int[Array, "*M P"]
    """Numbers of its pieces; 0 is empty."""
    answer: Int[Array, "*M P"]
    """1 where the tokens of a piece are asked for, else 0."""
    skills: Int[Array, "*M K"]
    """Skills that it needs; -1 where there are fewer than K."""


class _Tokens(NamedTuple):
    """What stands at some positions of a row. Beyond the last document, everything is 0."""

    token: Int[Array, " L"]
    segment: Int[Array, " L"]  # from 1
    place: Int[Array, " L"]  # inside the document
    answer: Int[Array, " L"]


def token_count(table: Pieces, document: Document) -> Array:
    """How many tokens the pieces of one document have."""
    return jnp.asarray(table.length)[document.pieces].sum(-1)


class Row(NamedTuple):
    """How a row with one document is laid out."""

    length: int
    """Inputs."""
    answer: int
    """Most tokens of an answer. Prompts end where so many positions are left, the last one of the prompt included, so
    that only those have to be computed, and where the prompt stands says nothing of the answer's length."""
    everywhere: bool = False
    """Whether there are targets at all positions, not only where the answer is."""
    whole: bool = False
    """Whether every token of the document has weight, not only its answer."""
    restart: bool = False
    """Whether positions count from the document's start, as they do in packed rows, or from the row's."""


def one_a_row(table: Pieces, document: Document, row: Row) -> Sample:
    """One document in a row, padded on both sides."""
    prompt = jnp.where(jnp.cumsum(document.answer) == 0, jnp.asarray(table.length)[document.pieces], 0).sum()
    one = Document(*(x[None] for x in document))
    at = _at(table, one, row.length + 1, prompt - (row.length - row.answer + 1))
    read = row.length if row.everywhere else row.answer
    inputs, targets = _Tokens(*(x[:-1] for x in at)), _Tokens(*(x[-read:] for x in at))
    # The first token of a document is no target: nothing comes before it.
    there = (targets.segment > 0) & (targets.place > 0)
    asked = there & (targets.answer > 0)
    counts = there if row.whole else asked
    return Sample(
        inputs.token,
        jnp.where(counts, targets.token, 0),
        counts.astype(jnp.float32),
        answer=asked.astype(jnp.int32),
        segments=inputs.segment,
        positions=inputs.place if row.restart else None,
        skills=document.skills,
    )


def packed(table: Pieces, documents: Document, length: int, whole: bool) -> Sample:
    """A row of `length` positions filled with documents (leading axis M) from its start; the last one is cut where the
    row ends. A position's target is the next token of its document, without weight where the row has none."""
    at = _at(table, documents, length, jnp.int32(0))
    following = _Tokens(*(jnp.concatenate([x[1:], jnp.zeros(1, x.dtype)]) for x in at))
    there = (following.segment == at.segment) & (at.segment > 0)
    asked = there & (following.answer > 0)
    counts = there if whole else asked
    # Documents that begin in the row; the others' skills were not needed.
    begun = jnp.arange(documents.pieces.shape[0]) < at.segment.max()
    return Sample(
        at.token,
        jnp.where(counts, following.token, 0),
        counts.astype(jnp.float32),
        answer=jnp.where(asked, at.segment, 0),
        segments=at.segment,
        positions=at.place,
        skills=jnp.where(begun[:, None], documents.skills, -1).reshape(-1),
    )


def _at(table: Pieces, documents: Document, length: int, first: Any) -> _Tokens:
    """Positions first, ..., first + length - 1 of the documents (M, P) one after the other; those below 0 are empty."""
    pieces = documents.pieces.reshape(-1)
    count, per = documents.pieces.shape
    lengths = jnp.asarray(table.length)[pieces]
    ends = jnp.cumsum(lengths)
    at = first + jnp.arange(length)
    found = _search(ends, at, first)
    inside = (at >= 0) & (found < count * per)
    piece = jnp.minimum(found, count * per - 1)
    # What a position needs to know of its piece is put into two numbers before: a gather costs most here.
    begins = ends - lengths
    document_begins = jnp.repeat(begins.reshape(count, per)[:, 0], per)
    to_flat = jnp.asarray(table.start)[pieces] - begins
    about = 2 * document_begins + documents.answer.reshape(-1)
    known = about[piece]
    flat = jnp.clip(to_flat[piece] + at, 0, len(table.flat) - 1)
    zero = lambda x: jnp.where(inside, x, 0)
    return _Tokens(zero(jnp.asarray(table.flat)[flat]), zero(piece // per + 1), zero(at - known // 2), zero(known % 2))


def _search(ends: Int[Array, " Q"], at: Int[Array, " L"], first: Any) -> Int[Array, " L"]:
    """For each position the number of ends that lie at or before it; `at` counts up from `first`."""
    if ends.shape[0] * at.shape[0] <= COMPARED:
        return jnp.searchsorted(ends, at, side="right", method="compare_all")
    before = jnp.clip(ends - first, 0, at.shape[0])
    return jnp.cumsum(jnp.zeros(at.shape[0] + 1, jnp.int32).at[before].add(1))[:-1]
