"""Multi-step arithmetic: `User: Calculate 23 + 15 * 7 - 42 * 3.` -> ` 2` (paper A, section 2 and appendix B)."""

from __future__ import annotations

import ast
import math
import operator
import re
from functools import cached_property
from typing import Annotated, Any, Literal

import jax
import jax.numpy as jnp
from pydantic import Field, field_validator, model_validator

from lopsided.core.errors import InputError
from lopsided.core.keys import below
from lopsided.core.task import FiniteInputs, SkillLaw, Split
from lopsided.tasks._text import Longest, TextTask
from lopsided.text.hashing import hashed
from lopsided.text.layout import Document
from lopsided.text.pieces import Pieces

SIGNS = "+-*"
MINUS, TIMES = SIGNS.index("-"), SIGNS.index("*")
BEGIN, ASK, CLOSE = "User: Calculate", ".\nAssistant:\\boxed{", "}"
LARGEST = 2**31 - 1
"""Answer that a 32-bit integer can hold."""


class Arithmetic(TextTask, FiniteInputs):
    """Operands 1, ..., `n` with `ops` operators between them, products first; the answer is written digit by digit,
    highest first, after a space or ` -`.

    Skill = operand value. `held_out_sequences`: of the operator sequences that each sequence of
    operands can have, so many are for tests only.
    """

    name: Literal["arithmetic"] = "arithmetic"
    n: Annotated[int, Field(ge=2, le=1000)] = 50
    ops: Annotated[int, Field(ge=1, le=8)] = 4
    operators: tuple[str, ...] = ("+", "-", "*")
    held_out_sequences: Annotated[int, Field(ge=1)] = 1

    @field_validator("operators")
    @classmethod
    def _known(cls, operators: tuple[str, ...]) -> tuple[str, ...]:
        if not operators or not set(operators) <= set(SIGNS) or len(set(operators)) < len(operators):
            raise InputError(f"operators = {operators!r}: some of +, -, *, each once")
        return operators

    @model_validator(mode="after")
    def _fits(self) -> Arithmetic:
        if self.largest > LARGEST:
            raise InputError(f"n = {self.n}, ops = {self.ops}: answers may reach {self.largest:,}; at most {LARGEST:,}")
        if self.held_out_sequences >= len(self.operators) ** self.ops:
            raise InputError(
                f"held_out_sequences = {self.held_out_sequences}: leaves nothing to train on; there are "
                f"{len(self.operators) ** self.ops} sequences of operators"
            )
        return self

    @property
    def largest(self) -> int:
        """The largest absolute value that an answer can have."""
        return self.n ** (self.ops + 1) if "*" in self.operators else self.n * (self.ops + 1)

    @property
    def n_skills(self) -> int:
        return self.n

    @cached_property
    def table(self) -> Pieces:
        operands, signs = [f" {v}" for v in range(1, self.n + 1)], [f" {s}" for s in SIGNS]
        return Pieces([BEGIN, ASK, CLOSE, *operands, *signs, " ", *map(str, range(10))], self.tokens)

    @cached_property
    def longest(self) -> Longest:
        t = self.table
        cost = lambda texts: max(len(t.encoded[text]) for text in texts)
        operand, sign = cost([f" {v}" for v in range(1, self.n + 1)]), cost([f" {s}" for s in self.operators])
        answer = cost([" ", " -"]) + len(str(self.largest)) + len(t.encoded[CLOSE])
        prompt = len(t.encoded[BEGIN]) + operand * (self.ops + 1) + sign * self.ops + len(t.encoded[ASK])
        return Longest(prompt + answer, answer)

    def n_words(self, split: Split) -> int:
        return self.ops + 2

    @property
    def entropy_bits(self) -> float:
        return (self.ops + 1) * math.log2(self.n) + self.ops * math.log2(len(self.operators))

    def document(self, bits: jax.Array, law: SkillLaw, latent: Any, split: Split) -> Document:
        t, k, kinds = self.table, self.ops, len(self.operators)
        skill = law.draw(bits[: k + 1])
        # Where an operand sequence starts among the operator sequences decides which ones are held out.
        total, held = kinds**k, self.held_out_sequences
        chosen = below(bits[k + 1], held) if split == "test" else held + below(bits[k + 1], total - held)
        number = (hashed(skill[i] for i in range(k + 1)) % total + chosen) % total
        code = jnp.array([SIGNS.index(s) for s in self.operators], jnp.int32)
        kind = jnp.stack([code[(number // kinds**i % kinds).astype(jnp.int32)] for i in range(k)])
        value = _value(skill + 1, kind)
        operand = t[" 1"] + skill  # operands' pieces have consecutive numbers
        sign = jnp.asarray(t.several([f" {s}" for s in SIGNS]))[kind]
        expression = jnp.stack([operand, jnp.append(sign, t[ASK])], axis=1).reshape(-1)
        digits = _digits(jnp.abs(value), len(str(self.largest)), jnp.asarray(t.several([*map(str, range(10))])))
        fixed = lambda text: jnp.array([t[text]])
        prompt = jnp.concatenate([fixed(BEGIN), expression])
        answer = jnp.concatenate([jnp.where(value < 0, t[" -"], t[" "])[None], digits, fixed(CLOSE)])
        return Document(
            jnp.concatenate([prompt, answer]).astype(jnp.int32),
            jnp.concatenate([jnp.zeros(len(prompt), jnp.int32), jnp.ones(len(answer), jnp.int32)]),
            skill,
        )

    @property
    def ends(self) -> tuple[str, tuple[str, ...]]:
        return CLOSE, (ASK,)

    def solve(self, prompt: str, written: str, latent: Any) -> list[str]:
        """Python's own parser reads the expression."""
        value = _evaluated(ast.parse(_expression(prompt), mode="eval").body)
        return [" -" if value < 0 else " ", *str(abs(value)), CLOSE]

    def is_held_out(self, prompt: str) -> bool:
        operands = [int(v) - 1 for v in re.findall(r"\d+", _expression(prompt))]
        signs = [self.operators.index(s) for s in re.findall(r"[-+*]", _expression(prompt))]
        total = len(self.operators) ** self.ops
        number = sum(s * len(self.operators) ** i for i, s in enumerate(signs))
        return (number - int(hashed(operands)) % total) % total < self.held_out_sequences

    def example(self) -> str:
        return "User: Calculate 23 + 15 * 7 - 42 * 3. Assistant: \\boxed{ -> 2}"


def _value(operand: jax.Array, kind: jax.Array) -> jax.Array:
    """The value of an expression, products first: the sum of its terms, each a signed product."""
    total, term = jnp.int32(0), operand[0]
    for i in range(kind.shape[0]):
        times = kind[i] == TIMES
        total = jnp.where(times, total, total + term)
        signed = jnp.where(kind[i] == MINUS, -operand[i + 1], operand[i + 1])
        term = jnp.where(times, term * operand[i + 1], signed)
    return total + term


def _digits(value: jax.Array, width: int, pieces: jax.Array) -> jax.Array:
    """(width,) pieces of a number's digits, highest first, empty where the number is shorter."""
    place = jnp.array([10**i for i in reversed(range(width))], jnp.int32)
    shown = (value >= place) | (place == 1)
    return jnp.where(shown, pieces[value // place % 10], 0)


def _expression(prompt: str) -> str:
    return prompt.split("Calculate")[1].split(".")[0].strip()


_OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul}


def _evaluated(node: Any) -> int:
    if isinstance(node, ast.BinOp):
        return _OPERATORS[type(node.op)](_evaluated(node.left), _evaluated(node.right))
    assert isinstance(node, ast.Constant)
    assert isinstance(node.value, int)
    return node.value
