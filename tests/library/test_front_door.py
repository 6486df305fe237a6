"""`import lopsided as lop`: what a user of the library meets first."""

import builtins
import doctest
import importlib
import inspect
import subprocess
import sys

import jsonschema
import numpy as np
import pytest

import lopsided as lop
from lopsided import start
from lopsided.core.registry import registered
from lopsided.study.recipe_run import prepare
from tests.conftest import PARITY

MODULES = ("tasks", "skills", "models", "plans", "optim", "probes")


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    small = lop.Spec.parse(PARITY)
    arms = {"small": small, "fresh": small.replace(plan=lop.plans.Online(batch=16))}
    return lop.run(arms, seeds=4, out=tmp_path_factory.mktemp("store"))


def test_importing_takes_no_jax():
    code = "import sys, lopsided as lop; dir(lop); print({'jax', 'numpy', 'scipy', 'duckdb'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_every_public_name_is_there_and_says_what_it_is():
    for name in lop.__all__:
        assert getattr(lop, name).__doc__, name
    with pytest.raises(AttributeError, match="nothing"):
        lop.nothing  # noqa: B018
    assert lop.__version__


@pytest.mark.parametrize("module", MODULES)
def test_every_part_can_be_named_in_python(module):
    kind = {"tasks": "task", "models": "model", "plans": "plan", "optim": "optimizer", "probes": "probe"}
    listed = {getattr(getattr(lop, module), name) for name in getattr(lop, module).__all__}
    inside = {c for c in registered(kind.get(module, module)).values() if c.__module__.startswith("lopsided.")}
    assert listed == inside


def test_a_spec_of_objects_is_the_spec_of_their_json():
    spec = lop.Spec(
        task=lop.tasks.SparseParity(d=8, k=2),
        model=lop.models.MLP(width=16),
        plan=lop.plans.FixedSet(size=64, batch=16),
        optimizer=lop.optim.SGD(lr=0.5),
        loss="logistic",
        steps=60,
        evaluation={"every": 20, "samples": 64},
    )
    assert spec == lop.Spec.parse(PARITY)


def test_replace():
    spec = lop.Spec.parse(PARITY)
    other = spec.replace({"optimizer.lr": 0.1, "task.k": 3}, steps=80)
    assert (other.optimizer.lr, other.task.k, other.steps, other.task.d) == (0.1, 3, 80, 8)
    assert spec.optimizer.lr == 0.5
    for bad, said in (({"optimizer.rate": 1}, "rate"), ({"optimiser.lr": 1}, "optimizer"), ({"steps": 0}, "steps")):
        with pytest.raises(lop.InputError, match=said):
            spec.replace(bad)


def test_results_compare_and_print(results):
    verdict = results.compare("fresh", "small").faster(at=0.9)
    assert verdict.verdict == "inconclusive"  # of four pairs no test of signs rejects at 5 %
    assert "small reaches test/accuracy ≥ 0.9 in fewer samples than fresh" in str(verdict)
    assert "<b" in verdict._repr_html_()
    assert results.compare("fresh", "small", axis="steps").as_fast(at=0.9).claim.members == 8
    assert results.compare("fresh", "small").higher().effect is not None
    assert "small: 4 members" in repr(results)
    assert "<table>" in results._repr_html_()
    with pytest.raises(lop.InputError, match="Did you mean 'small'"):
        results.compare("fresh", "smal")
    with pytest.raises(lop.InputError, match="axis"):
        results.compare("fresh", "small", axis="hours")


def test_results_as_tables_and_as_a_picture(results, tmp_path):
    table = results.to_arrow()
    frame = results.to_pandas()
    assert list(frame.columns) == table.column_names == ["arm", "seed", "step", "samples", "metric", "value"]
    last = frame[(frame.arm == "small") & (frame.metric == "test/accuracy") & (frame.step == 60)]
    np.testing.assert_array_equal(last.value, results["small"].final("test/accuracy"))
    results.plot().savefig(tmp_path / "figure.png")
    assert (tmp_path / "figure.png").stat().st_size > 5_000


def test_what_is_missing_is_named(results, tmp_path):
    arms = {name: arm.spec for name, arm in results.arms.items()}
    with pytest.raises(lop.InputError, match="does not hold every member"):
        lop.load(arms, seeds=4, out=tmp_path)
    with pytest.raises(lop.InputError, match="Specs by name"):
        lop.run({"a": 3}, out=tmp_path)


def test_anybody_s_curves_are_compared():
    rng = np.random.default_rng(0)
    slow = np.clip(np.linspace(0, 1, 50) + 0.02 * rng.standard_normal((12, 1)), 0, 1)
    verdict = lop.compare(slow, slow**0.3, axis=np.arange(50) * 100, metric="accuracy").faster(at=0.8)
    assert verdict.verdict == "holds"
    assert verdict.effect > 1.3
    assert lop.compare(slow, slow).as_fast(at=0.5, within=1.25).verdict == "holds"
    assert lop.compare(slow, slow).faster(at=0.5).verdict == "negligible"
    assert lop.compare(1 - slow, 0.5 - slow).lower().verdict == "holds"
    for bad in ([1.0, 2.0], [["a"]], []):
        with pytest.raises(lop.InputError, match="compare"):
            lop.compare(bad, slow)
    with pytest.raises(lop.InputError, match="axis"):
        lop.compare(slow, slow, axis=[1, 2])


def test_batches_are_what_a_member_trains_on(tracking):
    import jax

    from lopsided.core.engine import Member
    from lopsided.core.execution import DEFAULT
    from lopsided.engines.members import traced_of
    from lopsided.engines.program import SampledProgram

    spec = tracking()
    stream = lop.batches(spec.task, spec.plan, spec.skills, seed=7, steps=spec.steps, rank_order="random")
    found = list(stream)
    assert len(found) == spec.steps
    program = SampledProgram(spec, DEFAULT)
    member = program._member(jax.tree.map(lambda x: x[0], traced_of([Member(spec, 7)])))
    for step in (0, 11, 29):
        draw = spec.plan.draw(member.plan, step)
        expected = program._batch(member, draw, member.law(step / spec.steps))
        np.testing.assert_array_equal(found[step].inputs, expected.inputs)
        np.testing.assert_array_equal(found[step].targets, expected.targets)


def test_batches_refuse_what_they_cannot_draw():
    parity = lop.tasks.SparseParity(d=6, k=2)
    for arguments, said in (
        ((parity, lop.plans.Population()), "draws no samples"),
        ((parity, lop.plans.AutoSchedule(batch=8, online_steps=100)), "follows a model"),
        ((parity, lop.plans.Online(batch=8), lop.skills.Uniform()), "no skills"),
        ((lop.tasks.StateTracking(group="S3", hops=2), lop.plans.Online(batch=8), lop.skills.Annealed()), "steps"),
    ):
        with pytest.raises(lop.InputError, match=said):
            next(lop.batches(*arguments))


@pytest.fixture(scope="module")
def validator():
    schema = lop.Spec.model_json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@pytest.mark.parametrize("name", registered("recipe"))
def test_every_spec_of_every_recipe_fits_the_schema(name, validator):
    for scale in ("smoke", "laptop", "paper"):
        for spec in list(prepare(name, scale, None, []).arms.values())[:40]:
            validator.validate(spec.model_dump(mode="json"))


@pytest.mark.parametrize(
    "change",
    [{"task": {"name": "nothing"}}, {"task": {"name": "mlp"}}, {"steps": "many"}, {"extra": 1}, {"plan": {"batch": 1}}],
)
def test_the_schema_refuses_what_specs_refuse(change, validator):
    assert not validator.is_valid({**PARITY, **change})


PUBLIC = [getattr(part, name) for part in (lop, lop.data) for name in part.__all__]
WITH_EXAMPLES = sorted({each.__module__ for each in PUBLIC if not inspect.ismodule(each)})
WITHOUT_EXAMPLE = {
    "Advised", "Comparison", "Store",  # what a function gives, whose own example has it
    "Feed", "GrainSelection",  # of a framework: docs/streaming.md and docs/frameworks.md have programs that run
    "AsIs", "Anneal", "Binned", "Curriculum", "Temperature", "TwoLevel", "Uniform",  # laws, as PowerLaw and Weights
    "register",  # docs/extending.md
}  # fmt: skip


@pytest.mark.parametrize("module", WITH_EXAMPLES)
def test_examples_in_docstrings_run(module):
    if module.endswith("hugging_face"):
        pytest.importorskip("datasets")
    assert doctest.testmod(importlib.import_module(module)).failed == 0


def test_what_is_public_shows_how_it_is_used():
    shown = {each.__name__ for each in PUBLIC if not inspect.ismodule(each) and ">>>" in (each.__doc__ or "")}
    assert {each.__name__ for each in PUBLIC if not inspect.ismodule(each)} - shown == WITHOUT_EXAMPLE


def test_a_loss_falls_as_it_is_learned():
    """A comparison of losses looks for the first time below the goal."""
    axis = np.arange(1, 31)
    slow, fast = (np.exp(-axis / t) * np.ones((8, 1)) * np.linspace(1, 1.05, 8)[:, None] for t in (9, 3))
    found = lop.compare(slow, fast, axis, metric="loss").faster(at=0.2)
    assert found.verdict == "holds"
    assert found.effect == pytest.approx(3, rel=0.1)
    assert "baseline / candidate" in str(found)
    assert lop.compare(-slow, -fast, axis, metric="score", falling=False).faster(at=-0.2).verdict == "holds"


RANDOM = np.random.default_rng()


class Wrong(lop.tasks.SparseParity):
    """A task with a mistake."""

    mistake: str = "none"

    def sample(self, key, index, context):
        made = super().sample(key, 0 if self.mistake == "index" else index, context)
        if self.mistake == "numpy":
            return made._replace(inputs=made.inputs + RANDOM.normal(size=6).astype(np.float32))
        if self.mistake == "array":
            return made.inputs
        if self.mistake == "law":
            return context.law.draw(made.inputs)
        return made._replace(targets=made.targets[None]) if self.mistake == "shape" else made

    def oracle(self, inputs, latent):
        return None if self.mistake == "oracle" else super().oracle(inputs, latent)


class Reads(lop.tasks.StateTracking):
    """A task that says of itself what cannot be."""

    place: int = 2
    share: float = 0.25
    chance = property(lambda self: self.share)

    @property
    def outputs(self):
        return super().outputs._replace(read=(self.place,))


@pytest.mark.parametrize(
    ("wrong", "said"), [({"place": 3}, "read at 3; valid are positions 0 to 2"), ({"share": 2.0}, "chance = 2")]
)
def test_check_names_what_cannot_be(wrong, said):
    with pytest.raises(lop.InputError, match=said):
        lop.check(Reads(**wrong))
    lop.check(Reads())


def test_a_spec_reads_answers_only_where_inputs_are():
    model, plan = lop.models.Transformer(layers=1, width=8, heads=1), lop.plans.Online(batch=4)
    optimizer, loss = lop.optim.AdamW(lr=0.01), "cross-entropy"
    sound = lop.Spec(task=Reads(), model=model, plan=plan, optimizer=optimizer, loss=loss, steps=100)
    with pytest.raises(lop.InputError, match="answers are read at 3; valid are positions 0 to 2"):
        sound.replace(task=Reads(place=3))


@pytest.mark.parametrize("name", registered("task"))
def test_every_task_passes_its_check(name):
    lop.check(registered("task")[name](), samples=16)


@pytest.mark.parametrize(
    ("mistake", "said"),
    [
        ("array", "has to return a Sample"),
        ("law", "inherits HasSkills"),
        ("shape", r"one sample's targets have shape \(1,\), expected \(\)"),
        ("oracle", "has to return numbers"),
        ("index", "all samples are the same"),
        ("numpy", "not with numpy.random|the oracle says"),
    ],
)
def test_check_names_the_mistake(mistake, said):
    with pytest.raises(lop.InputError, match=said):
        lop.check(Wrong(d=6, k=2, mistake=mistake))
    lop.check(Wrong(d=6, k=2))
    with pytest.raises(lop.InputError, match="is no task"):
        lop.check(Wrong)


def test_a_model_that_cannot_read_the_task_is_refused_before_anything_runs():
    tokens = lop.tasks.StateTracking(group="S3", hops=2)
    with pytest.raises(lop.InputError, match="mlp"):
        lop.Spec.parse({**PARITY, "task": tokens.model_dump(mode="json"), "loss": "cross-entropy"})
    with pytest.raises(lop.InputError, match="seeds = 0"):
        lop.run(lop.Spec.parse(PARITY), seeds=0)


@pytest.mark.parametrize(
    ("words", "said", "code"),
    [(["--version"], "0.1.0", 0), (["doctor"], "lopsided.data and lopsided.compare", 0), (["run", "tour"], "lab", 2)],
)  # fmt: skip
def test_without_the_laboratory_the_command_says_what_there_is(words, said, code, monkeypatch, capsys):
    """`pip install lopsided` brings NumPy and SciPy, and the command `lopsided` too."""
    monkeypatch.setitem(sys.modules, "lopsided.cli", None)
    monkeypatch.setattr(sys, "argv", ["lopsided", *words])

    def import_(name, *rest, real=builtins.__import__):
        if name == "lopsided.cli":
            raise ModuleNotFoundError("No module named 'cyclopts'", name="cyclopts")
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", import_)
    try:
        start.main()
        ended = 0
    except SystemExit as error:
        ended = error.code
    assert ended == code
    found = capsys.readouterr()
    assert said in found.out + found.err
