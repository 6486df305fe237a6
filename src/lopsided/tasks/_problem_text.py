"""The text of a word problem and of its solution, as pieces."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from lopsided.core.keys import below
from lopsided.tasks._text import Longest
from lopsided.text import problems
from lopsided.text.names import CATEGORIES, PLACES
from lopsided.text.pieces import END, Pieces
from lopsided.text.problems import FIRST, LEAF, LITERAL, NOT, PAIR, THIRD, Steps

THERE, ASK, ASKED = ". There are", ". How many", " are there?\nSolution:\nThe"
ARE, EQUALS, OPEN, CLOSE = " are", " =", " (", ")"
STEP, ANSWER = ".\nThe", ".\nAnswer: ####"
SIGNS = (" +", " -", " *", " /")
COMPUTED, A, B, C, NUMBER = -1, -2, -3, -4, -5
"""Slots of a statement: the computed quantity, those it is computed from, a number."""
PLAIN: tuple[tuple[Any, ...], ...] = (
    (THERE, NUMBER, " more", COMPUTED, " than", A),
    (THERE, NUMBER, " fewer", COMPUTED, " than", A),
    (THERE, NUMBER, " times as many", COMPUTED, " as", A),
    (". Splitting the", A, " into", NUMBER, " equal groups gives the number of", COMPUTED),
    (". There are as many", COMPUTED, " as", A, " and", B, " together"),
    (". The number of", COMPUTED, " is the difference of", A, " and", B),
    (". The number of", COMPUTED, " is the product of", A, " and", B),
    (". The number of", COMPUTED, " is the quotient of", A, " and", B),
)
"""By operation, with a number and with a second quantity."""
TOTAL_OF_TWO = (". The", COMPUTED, " are the", A, " and the", C)
TOTAL_OF_THREE = (". The", COMPUTED, " are the", A, ", the", B, " and the", C)
STATEMENTS = (*PLAIN, TOTAL_OF_TWO, TOTAL_OF_THREE, ())
PAIR_AT, THREE_AT, NOTHING_AT = 8, 9, 10
WIDTH = max(map(len, STATEMENTS))
IN_TOTALS = problems.MOST_TOTALS
"""Categories whose items are the members of totals; the items of the others are for everything else."""
NOUNS, ITEMS = tuple(CATEGORIES), tuple(CATEGORIES.values())
PER = len(ITEMS[0])


def openings(modulus: int | None) -> list[str]:
    """First sentences, one for each place."""
    rule = f". All numbers count modulo {modulus}" if modulus else ""
    return [f"We are in the {place}{rule}" for place in PLACES]


def table(modulus: int | None, cutting: str) -> Pieces:
    """All pieces; numbers, items, nouns and places have consecutive numbers."""
    largest = modulus - 1 if modulus else problems.BOUND
    fixed = [THERE, ASK, ASKED, ARE, EQUALS, OPEN, CLOSE, STEP, ANSWER, END, *SIGNS]
    fixed += [part for statement in STATEMENTS for part in statement if isinstance(part, str)]
    numbers = [f" {v}" for v in range(largest + 1)]
    inside = [number[1:] for number in numbers]  # after an opening parenthesis
    items = [f" {item}" for items in ITEMS for item in items]
    nouns = [f" {noun}" for noun in NOUNS]
    aliases = dict(zip(inside, numbers, strict=True))
    return Pieces([*fixed, *numbers, *inside, *items, *nouns, *openings(modulus)], cutting, aliases)


def longest(table: Pieces, n: int, modulus: int | None, merged: bool) -> Longest:
    """Bounds over all problems of n steps: at most n + 1 quantities with numbers, and n statements."""
    cost = lambda text: len(table.encoded[text])
    most = lambda text, count: int(table.length[table[text] : table[text] + count].max())
    number = most(" 0", (modulus or problems.BOUND + 1))
    item = max(most(f" {ITEMS[0][0]}", len(ITEMS) * PER), most(f" {NOUNS[0]}", len(NOUNS)))
    leaf = cost(THERE) + number + item

    def of(statement: tuple[Any, ...]) -> int:
        parts = [cost(x) if isinstance(x, str) else number if x == NUMBER else item for x in statement]
        return sum(parts)

    # A statement with a number instead of a second quantity saves that quantity's own sentence.
    one = max(max(of(s) for s in STATEMENTS[:4]), leaf + max(of(s) for s in STATEMENTS[4:9]))
    three = max(one, (2 * leaf + of(TOTAL_OF_THREE)) // 2 + 1)
    problem = most(openings(modulus)[0], len(PLACES)) + leaf + n * max(one, three) + cost(ASK) + item + cost(ASKED)
    sign = max(map(cost, SIGNS))
    step = cost(STEP) + item + cost(ARE) + 3 * number + sign + cost(EQUALS)
    solution = n * step - cost(STEP) + cost(ANSWER) + number + cost(END)
    if merged:  # two steps in one: two parentheses instead of a statement
        solution += n // 2 * max(0, cost(OPEN) + cost(CLOSE) + sign - (step - 2 * number))
    return Longest(problem + solution, solution)


def document(table: Pieces, steps: Steps, bits: Array, modulus: int | None) -> tuple[Array, Array]:
    """Pieces of the problem and of its solution, (P,), and which of them are the answer."""
    names = _names(table, steps, bits[0])
    problem = _problem(table, steps, names, bits, modulus)
    solution = _solution(table, steps, names)
    pieces = jnp.concatenate([problem, solution]).astype(jnp.int32)
    return pieces, (jnp.arange(len(pieces)) >= len(problem)).astype(jnp.int32)


class _Names(NamedTuple):
    """Pieces that name the operands and the result of every step, (n,) each."""

    a: Array
    b: Array
    result: Array


def _names(table: Pieces, steps: Steps, word: Array) -> _Names:
    """No two quantities of a problem have one name; the members of a total are items of its category."""
    n = steps.value.shape[0]
    turn = lambda shift, width: ((word >> shift) & ((1 << width) - 1)).astype(jnp.int32)
    category = lambda t: (5 * t + turn(0, 4) % len(NOUNS)) % len(NOUNS)
    item = lambda t, m: table[f" {ITEMS[0][0]}"] + category(t) * PER + m
    member = lambda t, slot: item(t, ((2 * turn(4, 2) + 1) * slot + turn(6, 3) + t) % PER)
    spare = (len(NOUNS) - IN_TOTALS) * PER

    def other(j: Any) -> Array:
        m = ((2 * turn(9, 5) + 1) * j + turn(14, 6)) % spare
        return item(IN_TOTALS + m // PER, m % PER)

    step = jnp.arange(n)
    t, sums = steps.of_total, steps.total != NOT
    noun = table[f" {NOUNS[0]}"] + category(t)
    # A result that is a member of a later total: of which, and at which place.
    user = jnp.where((steps.type != problems.BOTH_NEW) & sums & (steps.total != THIRD), step - 1, -1)
    user_b = jnp.where((steps.type == problems.NONE_NEW) & sums, steps.other, -1)
    as_a, as_b = user[None] == step[:, None], user_b[None] == step[:, None]  # (result, step that uses it)
    used = as_a | as_b
    total_of = jnp.where(used, t[None], 0).sum(1)
    place_of = jnp.where(as_b.any(1), 1, 0)
    result = jnp.where(used.any(1), member(total_of, place_of), other(step))
    result = jnp.where(steps.total == NOT, result, noun)
    before = jnp.concatenate([result[:1], result[:-1]])  # the newest result
    new_a = jnp.where(sums, member(t, 0), other(n + step))
    a = jnp.where(steps.type == problems.BOTH_NEW, new_a, before)
    new_b = jnp.where(sums, member(t, jnp.where(steps.total == THIRD, 2, 1)), other(2 * n + step))
    result_b = jnp.where(steps.other[:, None] == step[None], result[None], 0).sum(1)
    b = jnp.where(steps.second == problems.RESULT, result_b, new_b)
    return _Names(a, b, result)


def _problem(table: Pieces, steps: Steps, names: _Names, bits: Array, modulus: int | None) -> Array:
    """Opening, statements in random order, question."""
    n = steps.value.shape[0]
    number = lambda v: table[" 0"] + v
    empty = jnp.zeros((n, WIDTH - 3), jnp.int32)
    there = jnp.full(n, table[THERE])
    first_a = jnp.where(steps.swapped, steps.b, steps.a)
    first_b = jnp.where(steps.swapped, steps.a, steps.b)
    new_a = steps.there & (steps.type == problems.BOTH_NEW)
    new_b = steps.there & (steps.second == LEAF)
    leaf = lambda v, name: jnp.concatenate([jnp.stack([there, number(v), name], 1), empty], 1)
    leaves_a = jnp.where(new_a[:, None], leaf(first_a, names.a), 0)
    leaves_b = jnp.where(new_b[:, None], leaf(first_b, names.b), 0)

    kind = steps.operation + jnp.where(steps.second == LITERAL, 0, 4)
    kind = jnp.where(steps.total == PAIR, PAIR_AT, jnp.where(steps.total == THIRD, THREE_AT, kind))
    kind = jnp.where(steps.there & (steps.total != FIRST), kind, NOTHING_AT)
    pattern = jnp.asarray(_patterns(table))[kind]  # (n, W): pieces, or slots below 0
    earlier = lambda x: jnp.concatenate([x[:1], x[:-1]])
    three = steps.total == THIRD
    slot_a = jnp.where(three, earlier(names.a), jnp.where(steps.swapped, names.b, names.a))
    slot_b = jnp.where(three, earlier(names.b), jnp.where(steps.swapped, names.a, names.b))
    for slot, value in (
        (COMPUTED, names.result), (A, slot_a), (B, slot_b), (C, names.b), (NUMBER, number(steps.b)),
    ):  # fmt: skip
        pattern = jnp.where(pattern == slot, value[:, None], pattern)

    sentences = jnp.concatenate([leaves_a, leaves_b, pattern])
    count = len(sentences)
    salt = jnp.arange(1, count + 1, dtype=jnp.uint32) * jnp.uint32(0x9E3779B9)
    keys = problems.hashed([bits[1] ^ salt, jnp.broadcast_to(bits[2], salt.shape)])
    keys = (keys & ~jnp.uint32(31)) | jnp.arange(count, dtype=jnp.uint32)  # no two alike
    rank = (keys[None] < keys[:, None]).sum(1)
    order = jnp.where(rank[None] == jnp.arange(count)[:, None], jnp.arange(count)[None], 0).sum(1)
    begin = table[openings(modulus)[0]] + below(bits[3], len(PLACES)).astype(jnp.int32)
    asked = jnp.where(jnp.arange(n) == steps.there.sum() - 1, names.result, 0).sum()
    end = jnp.stack([jnp.int32(table[ASK]), asked, jnp.int32(table[ASKED])])
    return jnp.concatenate([begin[None], sentences[order].reshape(-1), end])


def _solution(table: Pieces, steps: Steps, names: _Names) -> Array:
    """`The plums are 3 * 12 = 36.` for every step; one that is written inside the next gives it its two operands."""
    n = steps.value.shape[0]
    number, inside = lambda v: table[" 0"] + v, lambda v: table["0"] + v
    sign = jnp.asarray(table.several(SIGNS))[steps.operation]
    earlier = lambda x: jnp.concatenate([x[:1], x[:-1]])
    within = earlier(steps.merged) & (jnp.arange(n) > 0)  # the step before is written inside this one
    bare = within & (earlier(steps.total) == FIRST)  # a sum of three needs no parentheses
    shown = steps.there & ~steps.merged
    # The result of the step before is the first operand, or the second where the operands changed places.
    at_a, at_b = within & ~steps.swapped, within & steps.swapped
    fixed = lambda text: jnp.full(n, table[text])
    inner_a, inner_sign, inner_b = earlier(steps.a), earlier(sign), earlier(steps.b)

    def operand(at: Array, value: Array) -> list[Array]:
        wrapped = at & ~bare
        return [
            jnp.where(wrapped, table[OPEN], 0),
            jnp.where(wrapped, inside(inner_a), jnp.where(at, number(inner_a), number(value))),
            jnp.where(at, inner_sign, 0),
            jnp.where(at, number(inner_b), 0),
            jnp.where(wrapped, table[CLOSE], 0),
        ]

    first = jnp.cumsum(shown) == 1
    start = jnp.where(first, 0, table[STEP])  # the question ends with the first step's beginning
    columns = [start, names.result, fixed(ARE), *operand(at_a, steps.a), sign]
    columns += [*operand(at_b, steps.b), fixed(EQUALS), number(steps.value)]
    written = jnp.where(shown[:, None], jnp.stack(columns, axis=1), 0).reshape(-1)
    value = jnp.where(jnp.arange(n) == steps.there.sum() - 1, steps.value, 0).sum()
    end = jnp.stack([jnp.int32(table[ANSWER]), number(value), jnp.int32(table[END])])
    return jnp.concatenate([written, end])


def _patterns(table: Pieces) -> np.ndarray:
    """(kinds, W): pieces and slots of every statement, then empty pieces."""
    rows = np.zeros((len(STATEMENTS), WIDTH), np.int32)
    for row, statement in zip(rows, STATEMENTS, strict=True):
        row[: len(statement)] = [part if isinstance(part, int) else table[part] for part in statement]
    return rows
