"""What the three language tasks promise beyond the contract of all tasks."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from lopsided.core.batch import target_weights
from lopsided.core.engine import Member
from lopsided.core.errors import InputError
from lopsided.core.keys import stream, words
from lopsided.core.task import SampleContext, SkillLaw, latent_of
from lopsided.optim.losses import accuracy_shares, mean
from lopsided.probes.worked_solutions import prompts_of
from lopsided.recipes import arithmetic, grade_school_math, multi_hop_qa
from lopsided.skills.distributions import PowerLaw
from lopsided.tasks import Arithmetic, GradeSchoolMath, MultiHopQA
from lopsided.text.hashing import hashed
from lopsided.text.problem_reader import Problem
from tests.compiled import answers, greedy, made
from tests.engines import engine
from tests.reference import oracles


def draw(task, n, split="train", skills=None, seed=0):
    count = task.n_skills
    cumulative = skills.schedule(count).cumulative(0.0) if skills else jnp.linspace(1 / count, 1, count)
    context = SampleContext(
        latent_of(task, stream(seed, "world")), SkillLaw(cumulative, jnp.arange(count)), None, split
    )
    one = lambda i: task.sample(stream(seed, split), i, context)
    drawn = jax.jit(lambda index: jax.lax.map(one, index, batch_size=4096))(jnp.arange(n, dtype=jnp.uint32))
    return jax.tree.map(np.asarray, drawn)


@pytest.mark.slow
def test_a_million_expressions_for_training_are_not_held_out():
    task = Arithmetic(n=20, ops=2)
    t, row = task.table, draw(task, 10**6).inputs
    columns = [int(np.argmax(row[0] == t.encoded["User: Calculate"][0])) + 1 + i for i in range(5)]
    values, signs = (row[:, columns[::2]], row[:, columns[1::2]])
    operands = values - t.encoded[" 1"][0]
    code = np.zeros(t.vocabulary, int)
    code[[t.encoded[f" {s}"][0] for s in "+-*"]] = range(3)
    number = code[signs[:, 0]] + 3 * code[signs[:, 1]]
    start = hashed(list(operands.T)) % 9
    assert operands.min() == 0
    assert operands.max() == 19
    assert not np.any((number - start) % 9 < 1)


@pytest.mark.slow
def test_a_million_questions_for_training_are_not_held_out():
    task = MultiHopQA(people=10, facts=0.25, held_out_people=2)
    batch = draw(task, 10**6)
    asked = (batch.skills >= 0).all(1)
    assert 0.74 < asked.mean() < 0.76
    t = task.table
    person = batch.inputs[asked, -1] - t.encoded[" Alice?\nAnswer:"][0]
    start = hashed(list(batch.skills[asked].T)) % 10
    place = (person - start.astype(int)) % 10
    assert np.unique(place).tolist() == list(range(2, 10))


@pytest.mark.slow
@pytest.mark.parametrize("task", [Arithmetic(context=256), MultiHopQA(context=256), GradeSchoolMath(context=256)])
def test_packed_rows_are_full(task):
    """Enough documents are drawn for a row, also under a law of short numbers."""
    for skills in (None, PowerLaw(alpha=1.5)):
        assert (draw(task, 2000, skills=skills).segments > 0).mean() > 0.999


def test_operands_of_test_expressions_stay_uniform():
    """Holding out by the operators leaves the operands' frequencies as they were."""
    counts = np.bincount(draw(Arithmetic(n=10, ops=2), 30_000, "test").skills.ravel(), minlength=10)
    assert np.abs(counts / counts.mean() - 1).max() < 0.05


@pytest.mark.parametrize("modulus", [13, None])
def test_problems_have_the_operations_that_were_asked_for(modulus):
    task = GradeSchoolMath(ops=(2, 5), modulus=modulus, merged=True, tokens="words")
    batch, seen, kinds = draw(task, 600), set(), set()
    for row, weights in zip(batch.inputs, batch.weights, strict=True):
        if not weights.any():
            continue
        text = task.decode(row)
        problem = Problem(text)
        assert 0 <= problem.answer <= 1000
        seen.add(len(problem.steps))
        kinds |= set(re.findall(r"times as many|more|fewer|Splitting|sum|together|difference|product|quotient", text))
        kinds |= {"total"} if re.search(r"The \w+ are the [\w-]+(,| and the)", text.split("Solution")[0]) else set()
    assert seen == {2, 3, 4, 5}
    assert {"times as many", "more", "fewer", "together", "difference", "total"} <= kinds


def test_merged_steps_are_fewer_sentences_for_as_many_operations():
    counted = []
    for merged in (False, True):
        task = GradeSchoolMath(ops=(4, 4), merged=merged, tokens="words")
        solutions = [task.decode(row).split("Solution:")[1] for row in draw(task, 300).inputs if row.any()]
        sentences = np.mean([s.count(" are ") for s in solutions])
        counted.append((sentences, np.mean([len(re.findall("[-+*/]", s)) for s in solutions])))
    (plain, operations), (fewer, same) = counted
    assert fewer < plain - 0.5
    assert abs(operations - same) < 0.1


def test_quantities_of_a_problem_have_names_of_their_own():
    task = GradeSchoolMath(ops=(8, 8), tokens="words")
    rows = [row for row in draw(task, 300).inputs if row.any()]
    assert len(rows) > 150
    for row in rows:
        problem = Problem(task.decode(row))
        problem.answer  # noqa: B018  # steps are worked out as the answer is asked for
        assert len(problem.steps) == 8  # a quantity that is defined twice takes the rule of the first away


@pytest.mark.slow
def test_the_law_that_is_left_in_plain_problems_is_close_to_the_declared_one():
    """Rejected steps make small numbers more frequent; docs/language.md has the numbers."""
    task = GradeSchoolMath(modulus=None, largest=200)
    skills = draw(task, 20_000).skills.ravel()
    share = np.bincount(skills[skills >= 0], minlength=200) / (skills >= 0).sum()
    assert 1.0 < share[:10].sum() * 20 < 2.0
    assert 0.8 < share[100:].sum() * 2 < 1.1


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: MultiHopQA(hops=25), "hops = 25: at most relations = 20"),
        (lambda: MultiHopQA(people=5, held_out_people=5), "leaves nobody to train on; there are 5 people"),
        (lambda: Arithmetic(ops=1, held_out_sequences=3), "leaves nothing to train on; there are 3 sequences"),
        (lambda: Arithmetic(n=1000, ops=4), "answers may reach"),
        (lambda: Arithmetic(operators=("+", "%")), "some of +, -, *, each once"),
        (lambda: GradeSchoolMath(modulus=12), "modulus = 12: a prime"),
        (lambda: GradeSchoolMath(ops=(4, 2)), "(fewest, most) operations"),
        (lambda: GradeSchoolMath(context=100), "context = 100: shorter than the longest document"),
        (lambda: GradeSchoolMath(tokens="bpe"), "tokens = 'bpe': valid: phrases, words, gpt2, qwen3"),
    ],
)
def test_bad_input_is_one_line(make, said):
    with pytest.raises(InputError) as error:
        make()
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def spec_of(task, layers=1, **changes):
    return {
        "task": task,
        "model": {"name": "transformer", "layers": layers, "width": 16, "heads": 2, "attention": "causal"},
        "plan": {"name": "online", "batch": 4},
        "optimizer": {"name": "adamw", "lr": 0.01},
        "loss": "cross-entropy",
        "steps": 1,
        "evaluation": {"every": 1, "samples": 8},
        **changes,
    }


@pytest.mark.slow
@pytest.mark.parametrize("positions", ["learned", "rope"])
def test_greedy_answers_are_right_where_teacher_forced_ones_are(positions):
    """What is generated equals the answer exactly where every token is the likeliest after the true ones before it."""
    from lopsided.models.transformer import Transformer

    for task in (Arithmetic(n=5, ops=1), MultiHopQA(people=4, hops=2, context=64), Arithmetic(n=3, ops=1, context=64)):
        model = Transformer(layers=2, width=16, heads=2, attention="causal", positions=positions)
        net = made(model, task.inputs, task.outputs)
        batch = jax.tree.map(jnp.asarray, draw(task, 200, "test"))
        # An output bias that favours some answers, so that some are right.
        bias = jnp.zeros(task.table.vocabulary).at[batch.targets[0][target_weights(batch)[0] > 0]].add(3.0)
        outputs = answers(net, batch) + bias
        forced = mean(accuracy_shares(outputs, batch, task.outputs)["accuracy"])
        import equinox as eqx

        favoured = eqx.tree_at(lambda n: n.head.bias, net, net.head.bias + bias)
        asked = prompts_of(batch, task.longest.answer)
        found = greedy(favoured, asked.prompts, task.longest.answer)
        right = ((found == asked.solutions) | (asked.solutions == 0)).all(1)
        np.testing.assert_allclose(right.mean(), forced, atol=1e-6)


PAPER = {
    "arithmetic": (
        arithmetic.recipe,
        {"layers": 2, "width": 32, "heads": 4, "kv_heads": 2, "head_width": 8, "hidden": 48},
    ),
    "multi-hop-qa": (multi_hop_qa.recipe, {"layers": 2, "width": 24, "heads": 2}),
    "grade-school-math": (grade_school_math.recipe, {"layers": 2, "width": 24, "heads": 2}),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", PAPER)
def test_a_shrunken_copy_of_the_paper_scale_takes_a_step(name):
    """The paper's task, rows, optimizer and precision; a small network, two rows a batch."""
    recipe, smaller = PAPER[name]
    for spec in list(recipe.specs("paper").values())[:1]:
        changes = {f"model.{key}": value for key, value in smaller.items()}
        changes |= {"plan.batch": 2, "evaluation.every": 1, "evaluation.samples": 4}
        small = spec.replace(changes, steps=1, probes=())
        found = [e for e in engine([Member(small, 0)]).run() if e is not None][-1]
        assert np.isfinite(found.metrics["train/loss"]).all()
        assert found.metrics["train/loss"][0] > 1


@pytest.mark.parametrize("tokens", ["phrases", "words", "paper"])
@pytest.mark.parametrize("name", oracles.TASKS)
def test_no_document_is_longer_than_declared(name, tokens):
    tokens = tokens if tokens != "paper" else "qwen3" if name == "arithmetic" else "gpt2"
    task = oracles.TASKS[name].model_copy(update={"tokens": tokens})
    task = type(task).model_validate(task.model_dump())  # cached tables of the other cutting must not come along
    latent, n = latent_of(task, stream(0, "world")), task.n_skills
    law = SkillLaw(jnp.linspace(1 / n, 1.0, n), jnp.arange(n))

    def lengths(i):
        document = task.document(words(stream(0, "train"), i, task.n_words("train")), law, latent, "train")
        length = jnp.asarray(task.table.length)[document.pieces]
        return length.sum(), (length * document.answer).sum()

    whole, answer = jax.jit(jax.vmap(lengths))(jnp.arange(2000, dtype=jnp.uint32))
    assert whole.max() <= task.longest.document
    assert answer.max() <= task.longest.answer


@pytest.mark.slow
@pytest.mark.parametrize("name", oracles.TASKS)
def test_texts_are_solved_from_their_words(name):
    """A thousand of each task; `python -m tests.reference.oracles` does 100,000."""
    for split in ("train", "test"):
        texts, bad = oracles.wrong(oracles.TASKS[name], 1000, split, seed=7)
        assert texts > 800
        assert bad == 0
