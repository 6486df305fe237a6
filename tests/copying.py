"""A small text task: documents "x y : x y" packed into rows, shorter questions, pairs held out by a rule."""

from typing import Any, Literal

import jax.numpy as jnp
import numpy as np

from lopsided.core.batch import Sample
from lopsided.core.keys import below, words
from lopsided.core.registry import register
from lopsided.core.shapes import Classes, Tokens
from lopsided.core.task import FiniteInputs, HoldsOut, SampleContext, Task

SYMBOLS, COLON, PAD = 6, 6, 7
DOCUMENT = 5  # x y : x y, of which the last token is only a target
ROWS = 3
PAIRS = np.array([(x, y) for x in range(SYMBOLS) for y in range(SYMBOLS)], np.int32)
HELD_OUT = PAIRS.sum(1) % 5 == 0
TRAIN, TEST = jnp.asarray(PAIRS[~HELD_OUT]), jnp.asarray(PAIRS[HELD_OUT])


@register
class Copying(Task, HoldsOut, FiniteInputs):
    """Copy two symbols. Training: three documents a row and a padded position. Test: one question a row."""

    name: Literal["copying"] = "copying"
    inputs = property(lambda self: Tokens(8, ROWS * (DOCUMENT - 1) + 1))
    outputs = property(lambda self: Classes(8, None))
    entropy_bits = property(lambda self: ROWS * np.log2(len(TRAIN)))

    def sample(self, key, index, context: SampleContext) -> Sample:
        count = ROWS if context.split == "train" else 1
        pairs = TRAIN if context.split == "train" else TEST
        pair = pairs[below(words(key, index, count), len(pairs))]
        text = jnp.concatenate([pair, jnp.full((count, 1), COLON), pair], axis=1)
        padded = 1 if context.split == "train" else 0
        fill = lambda x, value: jnp.concatenate([x.reshape(-1), jnp.full(padded, value, x.dtype)])
        place = jnp.broadcast_to(jnp.arange(DOCUMENT - 1), (count, DOCUMENT - 1))
        document = jnp.broadcast_to(jnp.arange(1, count + 1)[:, None], place.shape)
        asked = place >= 2  # the colon and the first copied symbol: what comes next is the answer
        return Sample(
            inputs=fill(text[:, :-1], PAD),
            targets=fill(text[:, 1:], PAD),
            weights=fill(jnp.ones(place.shape), 0.0),
            answer=fill(jnp.where(asked, document, 0), 0),
            segments=fill(document, 0),
            positions=fill(place, 0),
        )

    def oracle(self, inputs, latent: Any):
        rows = [t for t in np.asarray(inputs).tolist() if t != PAD]
        documents = [rows[i : i + DOCUMENT - 1] for i in range(0, len(rows), DOCUMENT - 1)]
        found = [t for d in documents for t in (*d[1:], d[1])]
        return np.array(found + [PAD] * (len(inputs) - len(rows)))

    def held_out(self, inputs) -> bool:
        """Whether a row holds a pair that training must never draw."""
        rows = [t for t in np.asarray(inputs).tolist() if t != PAD]
        return any((rows[i] + rows[i + 1]) % 5 == 0 for i in range(0, len(rows), DOCUMENT - 1))

    def example(self) -> str:
        return "2 4 : -> 2 4, as in 2 4 : 2 4"
