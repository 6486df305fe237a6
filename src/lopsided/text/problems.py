"""The numbers and relations of a word problem, before they become text: a random dependency graph, step by step.

A problem of n steps computes one quantity a step from two others. Step i is of one of three types: it combines two
numbers that nothing was computed from (`BOTH_NEW`), the newest result and something else (`ONE_NEW`), or the two newest
results that no step has used (`NONE_NEW`). Types are drawn so that the last step leaves exactly one unused result, the
answer: every step is needed for it. The second operand of `ONE_NEW` may also be an older result again, so that the
graph is no tree.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Int, UInt32

from lopsided.core.keys import below
from lopsided.text.hashing import hashed

BOTH_NEW, ONE_NEW, NONE_NEW = range(3)
LITERAL, LEAF, RESULT = range(3)
"""What the second operand is: a number in the sentence, a quantity with a number, a computed quantity."""
ADD, SUBTRACT, MULTIPLY, DIVIDE = range(4)
NOT, PAIR, FIRST, THIRD = range(4)
"""Part that a sum plays in a total over a category: none, all of a total of two, the first or second sum of three."""
MOST_TOTALS = 4
"""Totals in a problem, at most: each adds a sentence of up to four items."""
BOUND = 1000
"""Largest number that may occur, stated or computed, in a problem without a modulus."""


class Rules(NamedTuple):
    """What numbers are and how they combine."""

    modulus: int | None
    """A prime, or None for whole numbers up to `BOUND`."""
    largest: int
    """Largest number that a problem states."""
    proposals: int
    """Proposals (operation, number) of a step, of which the first that is possible is taken."""


class Draws(NamedTuple):
    """Random words of one step, and numbers drawn for it from the law of the skills."""

    word: UInt32[Array, "*n 3"]
    first: Int[Array, "*n"]
    """Number of the first operand, where it is new."""
    second: Int[Array, "*n P"]
    """Proposed numbers of the second operand, where it is new."""


class Steps(NamedTuple):
    """The steps of a problem, (n,) each; those from `count` on are empty."""

    there: Array
    type: Array
    second: Array
    """What the second operand is: a number in the sentence (LITERAL), a quantity that is stated (LEAF), or the result
    of an earlier step (RESULT)."""
    other: Array
    """The step whose result the second operand is, where it is one."""
    swapped: Array
    """Whether the operands change places (a difference of two quantities that would be negative)."""
    operation: Array
    a: Array
    b: Array
    value: Array
    total: Array
    """NOT, PAIR, FIRST or THIRD."""
    of_total: Array
    """Number of the total that the step belongs to."""
    merged: Array
    """Whether the step is written inside the next one."""


class _State(NamedTuple):
    stack: Array  # (n,) steps whose results are unused, the newest last
    size: Array
    values: Array  # (n,)
    totals: Array  # (n,) whether a result is a total, or part of one
    count: Array  # totals so far
    pending: Array  # whether the step before began a total of three
    merged: Array  # whether the step before the last was written inside it


def steps(rules: Rules, draws: Draws, count: Array, merge: bool) -> Steps:
    """The steps of one problem of `count` operations; `draws` has a leading axis n, the most operations."""
    n = draws.first.shape[0]
    nothing = jnp.zeros(n, jnp.int32)
    start = _State(nothing, jnp.int32(0), nothing, nothing > 0, jnp.int32(0), jnp.bool_(False), jnp.bool_(False))
    _, (found, before) = jax.lax.scan(
        lambda state, x: _step(rules, merge, count, state, *x), start, (jnp.arange(n), draws)
    )
    # A step learns from the next one whether it is written inside it.
    return found._replace(merged=jnp.concatenate([before[1:], jnp.zeros(1, bool)]))


def signature(steps: Steps) -> Array:
    """A hash in which two problems agree that take the same numerical steps, in whatever order."""
    each = hashed([steps.operation + 4 * (steps.total != NOT), steps.a, steps.b])
    return hashed([jnp.where(steps.there, each, 0).sum(-1, dtype=jnp.uint32)])


def _step(rules: Rules, merge: bool, count: Array, state: _State, i: Array, draws: Draws) -> Any:
    word = draws.word
    n = state.stack.shape[0]
    size, left = state.size, count - i  # steps that are left, this one included
    bits = lambda w, shift, width: (word[w] >> shift) & ((1 << width) - 1)

    # One result more may be open only if enough steps are left to combine them all.
    prefer = bits(0, 8, 2)
    both, one = size + 1 <= left, (size >= 1) & (size <= left)
    type_ = jnp.where(
        (size == 0) | (both & (prefer == 0)),
        BOTH_NEW,
        jnp.where((size >= 2) & ((prefer == 1) | ~one), NONE_NEW, ONE_NEW),
    )
    type_ = jnp.where(state.pending, ONE_NEW, type_)
    previous = jnp.maximum(i - 1, 0)
    older = below(word[1], jnp.maximum(i - 1, 1)).astype(jnp.int32)  # before the newest result
    again = (type_ == ONE_NEW) & (i >= 2) & (bits(0, 10, 2) == 0) & ~state.pending & ~_at(state.totals, older)
    beneath = _at(state.stack, jnp.maximum(size - 2, 0))
    new = jnp.where(state.pending | (bits(0, 12, 1) == 0), LEAF, LITERAL)
    second = jnp.where((type_ == NONE_NEW) | again, RESULT, new)
    other = jnp.where(again, older, beneath)

    a = jnp.where(type_ == BOTH_NEW, draws.first, _at(state.values, previous))
    b = jnp.where(second == RESULT, _at(state.values, other), draws.second)  # (P,)
    proposed = ((word[2] >> (2 * jnp.arange(rules.proposals, dtype=jnp.uint32))) & 3).astype(jnp.int32)
    proposed = jnp.where(state.pending, ADD, proposed)
    possible, values = _results(rules, a, b, proposed, second == LITERAL)
    which = jnp.argmax(possible)
    sure = possible.any()
    if rules.modulus is None:  # the last resort is always possible
        last = jnp.where((second == LITERAL) & (a + b[-1] <= BOUND), ADD, SUBTRACT)
        operation = jnp.where(sure, proposed[which], last)
        b = jnp.where(sure, b[which], b[-1])
        value = jnp.where(sure, values[which], jnp.where(last == ADD, a + b, jnp.abs(a - b)))
    else:
        operation, b, value = proposed[0], b[0], values[0]
    swapped = (operation == SUBTRACT) & (second != LITERAL) & (a < b) & (rules.modulus is None)

    # Totals over a category: a sum of quantities that are themselves no totals, nor used elsewhere.
    plain_a = (type_ == BOTH_NEW) | ~_at(state.totals, previous)
    plain_b = (second == LEAF) | ((type_ == NONE_NEW) & ~_at(state.totals, other))
    summed = (operation == ADD) & plain_a & plain_b & (bits(0, 14, 1) == 0) & (state.count < MOST_TOTALS)
    after = size + jnp.where(type_ == BOTH_NEW, 1, jnp.where(type_ == NONE_NEW, -1, 0))
    room = (i + 1 < count) & (after <= left - 1) & (rules.modulus is not None or value <= BOUND - rules.largest)
    first = summed & room & (bits(0, 15, 1) == 0)
    total = jnp.where(state.pending, THIRD, jnp.where(first, FIRST, jnp.where(summed, PAIR, NOT)))

    # Whether the step before is written inside this one.
    ours = (type_ != BOTH_NEW) & (i > 0) & ~state.merged & (total != FIRST) & (bits(0, 16, 1) == 0)
    before = state.pending | (ours & bool(merge))
    there = i < count
    place = jnp.arange(n)
    found = Steps(
        there, type_, second, other, swapped, operation,
        jnp.where(swapped, b, a), jnp.where(swapped, a, b), value, total, state.count, before,
    )  # fmt: skip
    state = _State(
        jnp.where(place == after - 1, i, state.stack),
        after,
        jnp.where(place == i, value, state.values),
        jnp.where(place == i, total != NOT, state.totals),
        state.count + ((total == PAIR) | (total == THIRD)),
        first,
        before,
    )
    return state, (found, before & there)


def _results(rules: Rules, a: Array, b: Array, operation: Array, literal: Array) -> tuple[Array, Array]:
    """Whether each proposal is possible, and its result."""
    if rules.modulus is not None:
        p = rules.modulus
        inverse = jnp.asarray([pow(v, p - 2, p) for v in range(p)], jnp.int32)[b]  # 0 for 0
        results = [(a + b) % p, (a - b) % p, a * b % p, a * inverse % p]
        return jnp.ones(b.shape, bool), jnp.choose(
            operation, [jnp.broadcast_to(r, b.shape) for r in results], mode="clip"
        )
    exact = (b > 0) & (a % jnp.maximum(b, 1) == 0)
    results = [a + b, jnp.abs(a - b), a * b, a // jnp.maximum(b, 1)]
    fits = [a + b <= BOUND, (a >= b) | ~literal, a * b <= BOUND, exact]
    return _chosen(operation, fits), _chosen(operation, results)


def _chosen(operation: Array, options: list[Array]) -> Array:
    """The option of each proposal's operation."""
    return jnp.select([operation == i for i in range(len(options))], options)


def _at(values: Array, index: Array) -> Array:
    """values[index] of a short array, without a gather."""
    hit = jnp.arange(values.shape[0]) == index
    return (hit & values).any() if values.dtype == bool else jnp.where(hit, values, 0).sum()
