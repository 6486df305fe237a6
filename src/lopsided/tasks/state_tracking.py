"""State tracking: the product g1 o g2 o ... o gk of k group elements, without intermediate supervision.

Skill = group element. `elements` encodes one token per element and asks for the product at the last position; `digits`
writes an element as the permutation it is (S5 with 4 hops: 20 tokens in) and asks for the product's digits at the last
positions, right only if all of them are. With fewer hops (a curriculum's lower levels) the leading positions hold a
blank token.
"""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
from pydantic import Field, model_validator

from lopsided.core.batch import Sample
from lopsided.core.errors import InputError
from lopsided.core.keys import Key, words
from lopsided.core.shapes import Classes, Tokens
from lopsided.core.task import FiniteInputs, HasChance, HasLevels, HasSkills, SampleContext, Task
from lopsided.tasks._groups import FiniteGroup, from_table, named


class StateTracking(Task, HasSkills, HasLevels, HasChance, FiniteInputs):
    """Compose `hops` elements of a finite group (paper A, section 2 and appendix C)."""

    name: Literal["state-tracking"] = "state-tracking"
    group: str | tuple[tuple[int, ...], ...] = "A5"
    hops: Annotated[int, Field(ge=1, le=64)] = 3
    encoding: Literal["elements", "digits"] = "elements"

    @model_validator(mode="after")
    def _group_exists(self) -> StateTracking:
        group = self.algebra  # built here so that an impossible group is refused with the spec
        if self.encoding == "digits" and group.points is None:
            raise InputError("encoding = 'digits': needs a named group; a table only has element numbers")
        return self

    @cached_property
    def algebra(self) -> FiniteGroup:
        return named(self.group) if isinstance(self.group, str) else from_table(self.group)

    @cached_property
    def _degree(self) -> int:
        return 1 if self.algebra.points is None or self.encoding == "elements" else self.algebra.points.shape[1]

    @property
    def n_skills(self) -> int:
        return self.algebra.order

    @property
    def levels(self) -> int:
        return self.hops

    @property
    def inputs(self) -> Tokens:
        symbols = self.algebra.order if self.encoding == "elements" else self._degree
        return Tokens(symbols + 1, self.hops * self._degree)  # the last token is the blank

    @property
    def outputs(self) -> Classes:
        symbols = self.inputs.vocabulary - 1
        length = self.inputs.length
        return Classes(symbols, tuple(range(length - self._degree, length)))

    @property
    def chance(self) -> float:
        return 1.0 / self.algebra.order

    @property
    def entropy_bits(self) -> float:
        return self.hops * float(np.log2(self.algebra.order))

    @property
    def plateaus(self) -> tuple[float, ...]:
        """Losses of a network that knows the product only up to a normal subgroup N and is even inside, for every N but
        the trivial one, from chance down: log |N| for `elements`; for `digits` the mean over digits of log of how many
        points N moves that digit to."""
        points = self.algebra.points

        def loss(subgroup: frozenset[int]) -> float:
            if self.encoding == "elements" or points is None:
                return float(np.log(len(subgroup)))
            images = points[sorted(subgroup)]
            return float(np.mean([np.log(len(np.unique(column))) for column in images.T]))

        found = {round(loss(subgroup), 12) for subgroup in self.algebra.normal_subgroups()}
        return tuple(sorted(found - {0.0}, reverse=True))

    def sample(self, key: Key, index: Any, context: SampleContext) -> Sample:
        assert context.law is not None
        bits = words(key, index, self.hops)
        element = context.law.draw(bits)
        used = jnp.ones(self.hops, bool)
        if context.level is not None:  # level j keeps the last j + 1 hops
            used = jnp.arange(self.hops) >= self.hops - 1 - context.level
            element = jnp.where(used, element, self.algebra.identity)
        table = jnp.asarray(self.algebra.table)
        product = element[0]
        for position in range(1, self.hops):
            product = table[product, element[position]]
        symbols = self._symbols
        blank = self.inputs.vocabulary - 1
        inputs = jnp.where(used[:, None], symbols[element], blank).reshape(-1)
        return Sample(inputs, symbols[product], skills=element)

    @property
    def _symbols(self) -> jax.Array:
        """(G, degree): the tokens that write each element."""
        if self.encoding == "elements":
            return jnp.arange(self.algebra.order, dtype=jnp.int32)[:, None]
        return jnp.asarray(self.algebra.points)

    def oracle(self, inputs: np.ndarray, latent: Any) -> np.ndarray:
        """Applies the permutations to each point one after the other, rightmost first."""
        blank = self.inputs.vocabulary - 1
        chunks = [c for c in np.asarray(inputs).reshape(self.hops, -1).tolist() if blank not in c]
        if self.algebra.points is None:
            product = self.algebra.identity
            for (element,) in reversed(chunks):
                product = int(self.algebra.table[element][product])
            return np.array([product])
        maps = [c if self.encoding == "digits" else self.algebra.points[c[0]].tolist() for c in chunks]
        image = []
        for point in range(self.algebra.points.shape[1]):
            for mapping in reversed(maps):
                point = mapping[point]
            image.append(point)
        if self.encoding == "digits":
            return np.array(image)
        return np.array([self.algebra.points.tolist().index(image)])

    def example(self) -> str:
        if self.algebra.points is None or self.hops < 2:
            return f"{self.hops} elements of a group of order {self.algebra.order} -> their product"
        p, q = self.algebra.points[1], self.algebra.points[-1]
        write = lambda x: "".join(str(int(v)) for v in x)
        return f"{write(p)} o {write(q)} = {write(p[q])}"
