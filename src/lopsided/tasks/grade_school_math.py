"""Grade-school maths: a word problem over a dependency graph, and its solution (paper A, section 5, appendix E)."""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array
from pydantic import Field, model_validator

from lopsided.core.errors import InputError
from lopsided.core.keys import below
from lopsided.core.task import SkillLaw, Solution, Split, WorkedSolutions
from lopsided.tasks import _problem_text as text
from lopsided.tasks._problem_text import ANSWER, EQUALS, SIGNS
from lopsided.tasks._text import Longest, TextTask
from lopsided.text import problems
from lopsided.text.layout import Document
from lopsided.text.pieces import END, Pieces
from lopsided.text.problem_reader import Problem, checked_solution

WORDS_A_STEP = 3  # kinds of sum and operand, the older operand, proposed operations
TRIES = {"train": 2, "test": 16}
"""Problems that are drawn until one belongs to the split; where none does, the document is empty."""
HELD_OUT = 8
"""One problem in so many is for tests only."""


class GradeSchoolMath(TextTask, WorkedSolutions):
    """Problems of `ops` = (fewest, most) operations on the quantities of items and categories, with a solution step by
    step that ends in `Answer: #### N`.

    `modulus` p, a prime: numbers 0, ..., p - 1, all arithmetic modulo p, division by multiplication with b^(p-2); skill
    = number. `modulus` None: numbers 1, ..., `largest`; steps above 1,000, below 0 or with a remainder are drawn again,
    which leaves small numbers more frequent than the law says. `merged`: steps are written inside the next one at
    random. One problem in 8 is held out, by a hash of the numerical steps that it takes.
    """

    name: Literal["grade-school-math"] = "grade-school-math"
    ops: tuple[Annotated[int, Field(ge=1, le=8)], Annotated[int, Field(ge=1, le=8)]] = (2, 8)
    modulus: Annotated[int, Field(ge=3, le=997)] | None = 211
    largest: Annotated[int, Field(ge=2, le=problems.BOUND)] = 200
    merged: bool = False

    @model_validator(mode="after")
    def _fits(self) -> GradeSchoolMath:
        low, high = self.ops
        if low > high:
            raise InputError(f"ops = {self.ops}: (fewest, most) operations")
        p = self.modulus
        if p is not None and any(p % d == 0 for d in range(2, int(p**0.5) + 1)):
            raise InputError(f"modulus = {p}: a prime, or numbers could not be divided; valid is for example 211")
        return self

    @property
    def n_skills(self) -> int:
        return self.modulus or self.largest

    @cached_property
    def rules(self) -> problems.Rules:
        return problems.Rules(self.modulus, self.modulus or self.largest, 1 if self.modulus else 4)

    @cached_property
    def table(self) -> Pieces:
        return text.table(self.modulus, self.tokens)

    @cached_property
    def longest(self) -> Longest:
        return text.longest(self.table, self.ops[1], self.modulus, self.merged)

    def n_words(self, split: Split) -> int:
        return TRIES[split] * self._words_a_try + 4

    @property
    def _words_a_try(self) -> int:
        """Words of a step, of its first number and of its proposed second numbers; one for the number of steps."""
        return 1 + self.ops[1] * (WORDS_A_STEP + 1 + self.rules.proposals)

    def document(self, bits: jax.Array, law: SkillLaw, latent: Any, split: Split) -> Document:
        tries, each = TRIES[split], self._words_a_try
        drawn = bits[: tries * each].reshape(tries, each)
        found, draws = jax.vmap(lambda words: self._steps(words, law))(drawn)
        held = problems.signature(found) % HELD_OUT == 0
        suits = held if split == "test" else ~held
        first = jnp.argmax(suits)
        steps, chosen = jax.tree.map(lambda x: x[first], (found, draws))
        pieces, answer = text.document(self.table, steps, bits[tries * each :], self.modulus)
        offset = 0 if self.modulus else 1
        new = jnp.stack([steps.type == problems.BOTH_NEW, steps.second != problems.RESULT], axis=1)
        # The second number in the order of the text, where a difference was turned round, is still the second drawn.
        second = jnp.where(steps.swapped, steps.a, steps.b)
        numbers = jnp.stack([chosen.first, second], axis=1) - offset
        skills = jnp.where(new & steps.there[:, None], numbers, -1).reshape(-1)
        known = suits.any()
        return Document(jnp.where(known, pieces, 0), answer, jnp.where(known, skills, -1))

    def _steps(self, words: jax.Array, law: SkillLaw) -> tuple[problems.Steps, problems.Draws]:
        low, most = self.ops
        proposals = self.rules.proposals
        word = words[1 : 1 + most * WORDS_A_STEP].reshape(most, WORDS_A_STEP)
        numbers = law.draw(words[1 + most * WORDS_A_STEP :]).reshape(most, 1 + proposals)
        numbers = numbers + (0 if self.modulus else 1)
        draws = problems.Draws(word, numbers[:, 0], numbers[:, 1:])
        count = low + below(words[0], most - low + 1).astype(jnp.int32)
        return problems.steps(self.rules, draws, count, self.merged), draws

    @property
    def ends(self) -> tuple[str, tuple[str, ...]]:
        return END, (text.ASKED,)

    def solve(self, prompt: str, written: str, latent: Any) -> list[str] | None:
        """Reads the problem's English, and finds every number of the written solution anew: a problem has several
        solutions, which compute in other orders. None for a solution that is cut."""
        if self.context is not None and not written.endswith(END):
            return None
        return checked_solution(Problem(prompt), written.removesuffix(END))

    def is_held_out(self, prompt: str) -> bool:
        return Problem(prompt).signature() % HELD_OUT == 0

    @property
    def operations(self) -> tuple[int, int]:
        return self.ops

    @property
    def longest_solution(self) -> int:
        return self.longest.answer

    def read_solution(self, tokens: Array) -> Solution:
        """The numbers after each ` =` and after `####`, and how many signs there are."""
        t = self.table
        numbers = np.zeros(t.vocabulary, bool)
        first = t[" 0"]
        numbers[t.flat[t.start[first] : t.start[first + self._largest + 1]]] = True
        width = int(t.length[first : first + self._largest + 1].max())

        def after(marker: str, which: int) -> Array:
            found = tokens == t.encoded[marker][-1]
            at = jnp.argmax(jnp.cumsum(found) == which + 1)
            place = at + 1 + jnp.arange(width)
            read = tokens[jnp.minimum(place, len(tokens) - 1)]
            known = jnp.cumprod(jnp.asarray(numbers)[read] & (place < len(tokens))) * (found.sum() > which)
            return jnp.where(known > 0, read, -1)

        results = jnp.stack([after(EQUALS, i) for i in range(self.ops[1])])
        signs = jnp.array([t.encoded[sign][-1] for sign in SIGNS])
        return Solution(results, after(ANSWER, 0), (tokens[:, None] == signs).any(1).sum())

    @property
    def _largest(self) -> int:
        return self.modulus - 1 if self.modulus else problems.BOUND

    def example(self) -> str:
        return "There are 3 apples. There are 4 times as many plums as apples. How many plums are there? -> #### 12"
