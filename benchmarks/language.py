"""Documents per second of CPU time, as tokens in rows, against plain Python that makes the same kind of text.

python -m benchmarks.language
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.measure import paired
from lopsided.core.keys import stream
from lopsided.core.task import SampleContext, SkillLaw, latent_of
from lopsided.tasks import Arithmetic, GradeSchoolMath, MultiHopQA
from lopsided.tasks._text import TextTask
from lopsided.text.names import PEOPLE, RELATIONS

AT_ONCE, CALLS = 512, 64
CONTEXT = 1024


def _rate(task: TextTask) -> Callable[[], float]:
    """Documents per second; of packed rows, those that begin in a row."""
    n = task.n_skills
    law = SkillLaw(jnp.linspace(1 / n, 1.0, n), jnp.arange(n))
    context, key = SampleContext(latent_of(task, stream(0, "world")), law), stream(0, "train")
    rows = AT_ONCE if task.context is None else AT_ONCE // 8

    def count(first: jax.Array) -> jax.Array:
        batch = jax.vmap(lambda i: task.sample(key, i, context))(first + jnp.arange(rows, dtype=jnp.uint32))
        assert batch.segments is not None
        # Every array is used, so that nothing is left out of the compiled program.
        used = sum(jnp.sum(x) for x in (batch.inputs, batch.targets, batch.weights))
        return batch.segments.max(1).sum() + 0 * used.astype(jnp.int32)

    compiled = jax.jit(lambda calls: jax.lax.map(count, calls))
    calls = CALLS if task.context is None else CALLS // 4
    made = [0]

    def measure() -> float:
        first = jnp.arange(calls, dtype=jnp.uint32) * rows + made[0]
        made[0] += calls * rows
        jax.block_until_ready(first)
        began = time.process_time()
        documents = int(np.asarray(compiled(first)).sum())
        return documents / (time.process_time() - began)

    measure()
    return measure


def _python_expressions() -> float:
    began = time.process_time()
    for _ in range(20_000):
        text = str(random.randint(1, 50))
        for _ in range(4):
            text += f" {random.choice('+-*')} {random.randint(1, 50)}"
        f"User: Calculate {text}.\nAssistant:\\boxed{{ {eval(text)}}}"
    return 20_000 / (time.process_time() - began)


def _python_questions() -> float:
    world = {(r, p): random.choice(PEOPLE[:20]) for r in RELATIONS for p in PEOPLE[:20]}
    began = time.process_time()
    for _ in range(20_000):
        relations = [random.choice(RELATIONS) for _ in range(3)]
        person = answer = random.choice(PEOPLE[:20])
        for relation in relations:
            answer = world[relation, answer]
        asked = " of ".join(f"the {r}" for r in reversed(relations))
        f"Who is {asked} of {person}?\nAnswer: {answer}."
    return 20_000 / (time.process_time() - began)


def rows() -> list[tuple[str, ...]]:
    problems = GradeSchoolMath()
    cases: list[tuple[str, TextTask, Callable[[], float], str, str]] = [
        ("expressions, 4 operators", Arithmetic(), _python_expressions, "plain Python", "1 M/s"),
        ("questions, 3 hops", MultiHopQA(facts=0.0), _python_questions, "plain Python", "1 M/s"),
        ("problems, 2 to 8 operations", problems, _rate(GradeSchoolMath(tokens="words")), "cut into words", "0.1 M/s"),
        ("the same, packed", GradeSchoolMath(context=CONTEXT), _rate(problems), "one a row", "0.9"),
        ("expressions, packed", Arithmetic(context=CONTEXT), _rate(Arithmetic()), "one a row", "0.9"),
        ("questions, packed", MultiHopQA(context=CONTEXT), _rate(MultiHopQA()), "one a row", "0.9"),
    ]
    found = []
    for name, task, other, against, least in cases:
        pair = paired(_rate(task), other)
        found.append((name, f"{pair.a / 1e6:.3f} M/s", f"{against} {pair.b / 1e6:.3f} M/s", pair.text(), least))
    return found


if __name__ == "__main__":
    from lopsided.engines import devices

    devices.setup(1)
    for row in rows():
        print(" · ".join(row), flush=True)
