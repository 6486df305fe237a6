"""What a run costs, before it starts: counted operations agree with formulas, memory with the compiler."""

import json

import pytest

from lopsided.cli import main
from lopsided.core.registry import registered
from lopsided.core.spec import Spec
from lopsided.engines import memory
from lopsided.engines.work import program_of, samples_of, tokens_of, work_of
from lopsided.price.cost import DEVICES, LAUNCH, cost
from lopsided.price.paper_costs import specs_digest
from lopsided.study.catalog import COSTS
from lopsided.study.recipe_run import prepare
from tests.conftest import PARITY, TRACKING


def called(*words):
    """The command line; it ends without an error."""
    with pytest.raises(SystemExit) as stopped:
        main(list(words))
    assert not stopped.value.code


LARGE = {
    **TRACKING,
    "model": {"name": "transformer", "layers": 3, "width": 256, "heads": 4},
    "plan": {"name": "online", "batch": 128},
    "probes": [],
    "steps": 10,
}


def test_a_perceptron_takes_six_operations_a_weight_and_sample():
    task, model = {"name": "sparse-parity", "d": 64, "k": 2}, {"name": "mlp", "width": 256}
    spec = Spec.parse({**PARITY, "task": task, "model": model})
    work = work_of(spec)
    assert work.parameters == 64 * 256 + 256 + 256 + 1
    # The first layer has no gradient with respect to its inputs: four in place of six. Generating samples comes on top.
    by_formula = 16 * (4 * 64 * 256 + 6 * 256)
    assert by_formula <= work.step <= 1.6 * by_formula


@pytest.mark.slow
def test_a_transformer_takes_six_operations_a_parameter_and_token_and_those_of_its_attention():
    spec = Spec.parse(LARGE)
    work, tokens = work_of(spec), tokens_of(spec) / spec.steps
    assert samples_of(spec) == 1280
    assert tokens == 128 * spec.task.inputs.length
    embedded = spec.task.inputs.vocabulary * 256
    by_formula = 6 * (work.parameters - embedded) * tokens
    assert 0.7 * by_formula <= work.step <= 1.5 * by_formula  # the last layer answers at one position only


@pytest.mark.slow
def test_every_layer_is_counted():
    """XLA counts a loop's body once, and layers are a loop."""
    one, four = (work_of(Spec.parse({**LARGE, "model": {**LARGE["model"], "layers": n}})) for n in (2, 5))
    assert four.step / one.step > 1.8


@pytest.mark.slow
def test_memory_is_that_of_the_compiled_program_and_near_the_prediction():
    spec = Spec.parse(LARGE)
    work, program = work_of(spec), program_of(spec)
    predicted = memory.predicted(program, 1, 1)
    assert work.state == predicted.state
    assert predicted.temporary / 3 < work.temporary < 3 * predicted.temporary


@pytest.mark.slow
def test_operations_grow_with_steps_and_seeds_and_hours_follow_the_formula():
    once = cost(prepare("set-size", "smoke", 1, ()), "h100", utilisation=0.5)
    twice = cost(prepare("set-size", "smoke", 2, ()), "h100", devices=2, utilisation=0.5)
    assert twice.operations == pytest.approx(2 * once.operations)
    assert twice.hours == pytest.approx(once.hours)  # more devices do not shorten a sequence of launches
    assert once.hours == pytest.approx(sum(p.steps for p in once.prices) * LAUNCH / 3600)  # so small are they
    assert once.fits
    large = cost(prepare("arithmetic", "paper", 1, ()), "h100", utilisation=0.5)
    assert large.hours == pytest.approx(large.operations / (DEVICES["h100"].bfloat16 * 0.5) / 3600)


def test_a_prediction_costs_nothing_and_a_flow_says_that_it_is_not_known():
    found = cost(prepare("emergence", "smoke", 1, ()))
    trains = [p for p in found.prices if p.work]
    assert trains == found.unknown
    assert all(p.hours == 0 for p in found.prices if not p.work)


@pytest.mark.slow
def test_this_machine_is_measured(capsys):
    called("cost", "set-size", "--scale", "smoke", "--seeds", "1", "--on", "this", "--json")
    found = json.loads(capsys.readouterr().out)
    assert found["hours"] > 0
    assert all(p["measured"] for p in found["programs"])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--on", "h1000"], "Did you mean 'h100'?"),
        (["--utilisation", "2"], "a share of the peak"),
        (["--devices", "0"], "at least 1"),
        (["--on", "this", "--devices", "2"], "this machine counts as one"),
    ],
)
def test_mistakes_are_one_line(words, said, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["cost", "set-size", "--scale", "smoke", *words])
    assert stopped.value.code == 2
    assert said in capsys.readouterr().err


def test_people_read_hours_and_the_formula(capsys):
    called("cost", "set-size", "--scale", "smoke", "--devices", "8")
    out = " ".join(capsys.readouterr().out.split())
    assert "on 8 x NVIDIA H100" in out
    assert "Hours = operations / (devices x peak x 0.3)" in out


def test_the_costs_beside_the_recipes_are_of_their_specs():
    """If not: `python -m lopsided.price.paper_costs`, then `make catalog`."""
    known = json.loads(COSTS.read_text())
    recipes = {name: r for name, r in registered("recipe").items() if "paper" in r.scales}
    assert {name: known[name]["specs"] for name in known} == {name: specs_digest(r) for name, r in recipes.items()}
