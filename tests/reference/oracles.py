"""Every text of 100,000 of each language task, solved anew from its words alone; and whether it may be trained on.

python -m tests.reference.oracles [number of texts]
"""

from __future__ import annotations

import sys
import time
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from lopsided.core.batch import target_weights
from lopsided.core.keys import stream
from lopsided.core.task import SampleContext, SkillLaw, Split, latent_of
from lopsided.tasks import Arithmetic, GradeSchoolMath, MultiHopQA
from lopsided.tasks._text import TextTask

TASKS: dict[str, TextTask] = {
    "arithmetic": Arithmetic(),
    "multi-hop-qa": MultiHopQA(),
    "grade-school-math, modular": GradeSchoolMath(),
    "grade-school-math, plain": GradeSchoolMath(modulus=None),
    "grade-school-math, merged": GradeSchoolMath(merged=True),
}
AT_ONCE = 2000


def wrong(task: TextTask, count: int, split: Split, seed: int = 0) -> tuple[int, int]:
    """(texts, those whose answer is not the oracle's or which belong to the other split)."""
    n = task.n_skills
    latent = latent_of(task, stream(seed, "world"))
    context = SampleContext(latent, SkillLaw(jnp.linspace(1 / n, 1.0, n), jnp.arange(n)), None, split)
    one = lambda i: task.sample(stream(seed, split), i, context)
    draw, known = jax.jit(jax.vmap(one)), jax.tree.map(np.asarray, latent)
    texts = bad = 0
    for start in range(0, count, AT_ONCE):
        batch: Any = jax.tree.map(np.asarray, draw(jnp.arange(start, min(start + AT_ONCE, count), dtype=jnp.uint32)))
        for row, targets, weights in zip(batch.inputs, batch.targets, target_weights(batch) > 0, strict=True):
            real = np.asarray(weights)
            if not real.any():
                continue
            texts += 1
            right = (task.oracle(row, known)[real] == targets[real]).all()
            bad += not right or task.held_out(row) != (split == "test")
    return texts, bad


if __name__ == "__main__":
    asked = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    for name, task in TASKS.items():
        began = time.time()
        texts, bad = wrong(task, asked, "train")
        more, worse = wrong(task, asked // 10, "test")
        print(f"{name}: {texts + more:,} texts, {bad + worse} wrong, {time.time() - began:.0f} s", flush=True)
