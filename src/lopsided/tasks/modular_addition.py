"""modular-addition: two numbers written digit by digit, their sum modulo p (paper C, section 2)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
from pydantic import Field, model_validator

from lopsided.core.batch import Sample
from lopsided.core.errors import InputError
from lopsided.core.keys import Key, below, words
from lopsided.core.shapes import Classes, Tokens
from lopsided.core.task import FiniteInputs, HasChance, RandomLabels, SampleContext, Task

LARGEST = 2**31
"""Number of residues whose sums are 32-bit integers without a sign."""


class ModularAddition(Task, HasChance, FiniteInputs, RandomLabels):
    """(x + z) mod `p` for x, z uniform on 0, ..., `n` - 1, each written as ceil(log_base n) digits, highest first.

    The answer is one of p classes, read at the last digit of z, so that a causal network has seen both numbers.
    """

    name: Literal["modular-addition"] = "modular-addition"
    n: Annotated[int, Field(ge=2, lt=LARGEST)] = 1024
    p: Annotated[int, Field(ge=2, le=65536)] = 97
    base: Annotated[int, Field(ge=2, le=65536)] = 10

    @model_validator(mode="after")
    def _sum_fits(self) -> ModularAddition:
        if self.n < self.p:
            raise InputError(f"n = {self.n}: at least p = {self.p}, or some remainders would hardly occur")
        return self

    @property
    def digits(self) -> int:
        """Digits of one number."""
        count = 1
        while self.base**count < self.n:
            count += 1
        return count

    @property
    def inputs(self) -> Tokens:
        return Tokens(self.base, 2 * self.digits)

    @property
    def outputs(self) -> Classes:
        return Classes(self.p, (2 * self.digits - 1,))

    @property
    def chance(self) -> float:
        """Share of the commonest remainder: 1 / p if p divides n, a little more otherwise."""
        one = (self.n // self.p + (np.arange(self.p) < self.n % self.p)) / self.n
        both = np.fft.irfft(np.fft.rfft(one) ** 2, self.p)  # remainders of a sum: a cyclic convolution
        return float(both.max())

    @property
    def entropy_bits(self) -> float:
        return 2 * float(np.log2(self.n))

    def sample(self, key: Key, index: Any, context: SampleContext) -> Sample:
        pair = below(words(key, index, 2), self.n)
        place = np.array([self.base**i for i in reversed(range(self.digits))], np.uint32)
        tokens = (pair[:, None] // place % self.base).astype(jnp.int32).reshape(-1)
        total = (pair % self.p).sum() % self.p
        return Sample(tokens, total.astype(jnp.int32)[None])

    def random_target(self, key: Key, index: Any, x: jax.Array) -> jax.Array:
        """A uniform class for every index, (1,) int32."""
        return below(words(key, index, 1), self.p).astype(jnp.int32)

    def oracle(self, inputs: np.ndarray, latent: Any) -> np.ndarray:
        """Reads the digits as Python integers."""
        numbers = [0, 0]
        for i, digit in enumerate(np.asarray(inputs).tolist()):
            which = i // self.digits
            numbers[which] = numbers[which] * self.base + digit
        return np.array([(numbers[0] + numbers[1]) % self.p])

    def example(self) -> str:
        x, z = self.n // 2, self.n - 1
        return f"{x} + {z} (base {self.base}, {self.digits} digits each) -> {(x + z) % self.p} (mod {self.p})"
