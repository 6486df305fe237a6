"""The population engine: exact losses and gradients, agreement with samples, with flow, and with theory."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy

from lopsided.core.batch import Batch
from lopsided.core.engine import Member
from lopsided.core.errors import InputError
from lopsided.core.keys import stream
from lopsided.core.spec import Spec
from lopsided.core.task import SampleContext
from lopsided.engines.idealised import Idealised
from lopsided.models.student import Neurons
from lopsided.recipes._composition import by_flow
from lopsided.tasks._tensor import correlation_loss, square_loss
from lopsided.theory.greedy_selection import greedy_selection, selection_matrix
from tests.engines import engine

MIXTURE = ((4, 0.8), (6, 0.6))
FLOW = {"name": "population", "dynamics": "flow"}
KEYS = jax.random.split(jax.random.key(0), 2000)
PROBES = [{"name": "directions"}, {"name": "overlap-matrix", "size": 3}, {"name": "population-loss"}]


def teacher_student(**changes):
    return Spec.parse(
        {
            "task": {"name": "additive-teacher", "d": 12, "directions": 3},
            "model": {"name": "student", "width": 6, "sigma_0": 0.05},
            "plan": {"name": "population"},
            "optimizer": {"name": "sgd", "lr": 0.1},
            "loss": "square",
            "steps": 100,
            "evaluation": {"every": 5, "per_decade": 20, "samples": 64},
            "probes": PROBES,
            **changes,
        }
    )


def train(*specs, seeds=(0,)):
    ensemble = engine([Member(s, k) for s in specs for k in seeds])
    curves = [c for c in ensemble.run() if c is not None]
    return ensemble, {k: np.stack([c.metrics[k] for c in curves], 1) for k in curves[0].metrics}


def some_ridges(m=5, d=9, directions=4):
    rng = np.random.default_rng(3)
    u = rng.normal(size=(m, d))
    weights = jnp.arange(1.0, directions + 1) ** -1.0
    return jnp.asarray(rng.uniform(0.1, 1, m)), jnp.asarray(u / np.linalg.norm(u, axis=1, keepdims=True)), weights


def written_out(strengths, directions, weights, links):
    """The same loss as a plain sum over pairs, for autograd."""
    student, teacher = links
    total = sum(c * c for _, c in teacher) * (weights**2).sum()
    for j, c in student:
        other = dict(teacher).get(j, 0.0)
        total -= 2 * c * other * (weights * strengths[:, None] * directions[:, : len(weights)] ** j).sum()
        total += c * c * (jnp.outer(strengths, strengths) * (directions @ directions.T) ** j).sum()
    return 0.5 * total


@pytest.mark.parametrize(
    "links",
    [(((4, 1.0),), ((4, 1.0),)), (MIXTURE, MIXTURE), (((2, 0.6), (4, 0.8)), MIXTURE), (((1, 1.0),), ((1, 1.0),))],
)
def test_value_and_gradient_equal_autograd(links):
    with jax.enable_x64(True):
        args = some_ridges()
        found, expected = (
            jax.jit(jax.value_and_grad(lambda *a, f=loss: f(*a, links), argnums=(0, 1)))(*args)
            for loss in (square_loss, written_out)
        )
        assert float(found[0]) == pytest.approx(float(expected[0]), rel=1e-12)
        for a, b in zip(found[1], expected[1], strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-12)


@pytest.mark.slow
def test_gradient_equals_finite_differences_through_the_student():
    """Through norms and unit vectors, all the way to the weights."""
    spec = teacher_student()
    with jax.enable_x64(True):
        latent = spec.task.latent(stream(0, "world"))
        params = spec.model.init(stream(0, "init"), spec.task.inputs, spec.task.outputs)
        params = jax.tree.map(lambda x: x.astype(jnp.float64) * 5, params)
        loss = lambda p: spec.task.exact_loss(p, latent, "square", None)
        gradient = jax.grad(loss)(params).v
        for k, i in ((0, 0), (2, 5), (5, 11)):
            step = jnp.zeros_like(params.v).at[k, i].set(1e-6)
            up, down = (loss(jax.tree.map(lambda v, change=s * step: v + change, params)) for s in (1, -1))
            assert float(up - down) / 2e-6 == pytest.approx(float(gradient[k, i]), rel=1e-6, abs=1e-10)


@pytest.mark.slow
def test_per_sample_gradients_average_to_the_population_gradient():
    """400,000 samples; every coordinate within five standard errors, and most within two."""
    spec = teacher_student(model={"name": "student", "width": 3, "sigma_0": 0.7})
    latent = spec.task.latent(stream(0, "world"))
    params = spec.model.init(stream(0, "init"), spec.task.inputs, spec.task.outputs)
    exact = jax.grad(lambda p: spec.task.exact_loss(p, latent, "square", None))(params).v
    key = stream(1, "train")

    @jax.vmap
    def of_sample(index):
        def loss(p):
            sample = spec.task.sample(key, index, SampleContext(latent))
            return 0.5 * (p(Batch(sample.inputs[None]))[0] - sample.targets) ** 2

        return jax.grad(loss)(params).v

    def moments(index):
        each = of_sample(index)
        return each.sum(0), (each**2).sum(0)

    n = 400_000
    parts = jax.lax.map(moments, jnp.arange(n, dtype=jnp.uint32).reshape(-1, 10_000))
    mean, square = (np.asarray(x, np.float64).sum(0) / n for x in parts)
    z = (mean - exact) / np.sqrt((square - mean**2) / n)
    assert np.abs(z).max() < 5
    assert (np.abs(z) < 2).mean() > 0.85


def test_correlation_loss_is_the_cross_term():
    args = some_ridges()
    alone = square_loss(*args, (MIXTURE, MIXTURE)) - correlation_loss(*args, (MIXTURE, MIXTURE))
    strengths, directions, weights = args
    own = sum(c * c * strengths @ (directions @ directions.T) ** j @ strengths for j, c in MIXTURE)
    assert float(alone) == pytest.approx(0.5 * float(own + (weights**2).sum()), rel=1e-4)


def of_ambient(n, width=6, d=40, plan=FLOW, **changes):
    student = {"name": "student", "width": width, "sigma_0": 0.05, **({"ambient": d} if n < d else {})}
    task = {"name": "additive-teacher", "d": n, "directions": 3}
    return teacher_student(task=task, model=student, plan=plan, **changes)


def drawn(spec, key):
    return spec.model.init(key, spec.task.inputs, spec.task.outputs).v


def initial(spec, seed):
    return np.asarray(drawn(spec, stream(seed, "init")), np.float64)


@pytest.mark.parametrize("n", [9, 12])
def test_a_student_in_the_span_keeps_overlaps_and_norms(n):
    """So its predicted times are those of the member in the whole space."""
    whole, narrow = (initial(of_ambient(size), 0) for size in (40, n))
    assert (whole[:, : n - 6] == narrow[:, : n - 6]).all()
    np.testing.assert_allclose(np.linalg.norm(narrow, axis=1), 0.05, rtol=1e-6)
    found = []
    for size in (40, n):
        ideal = Idealised([Member(of_ambient(size, plan={"name": "idealised"}, probes=[]), 0)])
        found.append([c.metrics["predicted/time"] for c in ideal.run() if c is not None])
    np.testing.assert_allclose(*found, rtol=1e-5)


def test_inner_products_between_neurons_in_the_span_have_the_law_of_the_whole_space():
    """Pairs of early, of late and of far neurons, over 2,000 members."""
    wholes, narrows = (jax.vmap(partial(drawn, of_ambient(size)))(KEYS) for size in (40, 9))
    for i, k in ((0, 1), (4, 5), (0, 5)):
        a, b = (np.asarray((v[:, i] * v[:, k]).sum(1)) for v in (wholes, narrows))
        assert scipy.stats.ks_2samp(a, b).pvalue > 0.01


def test_the_gradient_in_the_span_is_that_of_the_whole_space():
    """With any orthonormal basis of the rest: the flow never leaves it."""
    narrow, whole = of_ambient(9), of_ambient(40)
    v = initial(narrow, 0)
    basis, _ = np.linalg.qr(np.random.default_rng(0).normal(size=(37, 6)))
    embedded = lambda rows: np.concatenate([rows[:, :3], rows[:, 3:] @ basis.T], 1)
    with jax.enable_x64(True):
        found = []
        for spec, weights in ((narrow, v), (whole, embedded(v))):
            latent = spec.task.latent(stream(0, "world"))
            params = Neurons(jnp.asarray(weights), spec.model.link, False)
            loss = partial(spec.task.exact_loss, latent=latent, loss="square", frequency=None)
            found.append((float(loss(params)), np.asarray(jax.grad(loss)(params).v)))
    (value, gradient), (expected, of_whole) = found
    assert value == pytest.approx(expected, rel=1e-12)
    np.testing.assert_allclose(embedded(gradient), of_whole, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("n", "d", "plan"), [(8, 40, "population"), (8, 40, "idealised"), (6, 40, "population")])
def test_a_span_too_small_is_refused(n, d, plan):
    with pytest.raises(InputError, match="ambient"):
        engine([Member(of_ambient(n, d=d, plan={"name": plan}, probes=[]), 0)])


def test_members_start_alike_in_all_three_ways():
    plans = ({"name": "population"}, {"name": "online", "batch": 4}, {"name": "population", "precision": 32})
    starts = []
    for plan in plans:
        ensemble = engine([Member(teacher_student(plan=plan), 7)])
        starts.append(np.asarray(ensemble.state.params.v[0]))
    for other in starts[1:]:
        assert (starts[0].astype(np.float32) == other).all()
    assert starts[0].dtype == np.float64


def test_loss_falls_at_every_step_and_learns_all():
    student = {"name": "student", "width": 16, "sigma_0": 0.05}
    spec = teacher_student(model=student, steps=3000, optimizer={"name": "sgd", "lr": 0.05})
    ensemble, metrics = train(spec, seeds=(0, 1, 2))
    loss = metrics["population/loss"]
    assert (np.diff(loss, axis=1) <= 1e-12).all()
    assert (loss[:, -1] < 1e-3).all()
    assert (metrics["test/loss"] == loss).all()
    assert (metrics["directions/learned"][:, -1] == 1).all()
    assert ensemble.state.params.v.dtype == jnp.float64


@pytest.mark.slow
def test_small_steps_follow_the_flow():
    """Steps of a tenth and a hundredth: the distance to gradient flow shrinks about as much."""
    flow = teacher_student(plan={"name": "population", "dynamics": "flow"}, steps=300)
    _, exact = train(flow)
    errors = []
    for divide in (4, 40):
        spec = teacher_student(
            steps=300 * divide, optimizer={"name": "sgd", "lr": 0.1 / divide}, evaluation={"every": 30 * divide}
        )
        _, found = train(spec)
        _, at_end = exact["population/loss"], found["population/loss"]
        errors.append(abs(at_end[0, -1] - exact["population/loss"][0, -1]))
    assert errors[1] < 0.2 * errors[0]


def test_a_flow_whose_step_overflows_takes_a_shorter_one():
    """The escape of this member is so sudden that a step across it ends at inf, with an error of inf / inf. It was
    tried again for ever."""
    spec = by_flow(23, 6, 1.25, 10**8, 1000.0)
    ensemble, metrics = train(spec, seeds=(19,))
    assert int(ensemble.state.diverged[0]) < 0
    assert metrics["skills/learned"][0, -1] == 1


def test_flow_is_never_cut_between_evaluations():
    """Adaptive steps restart at a cut, so slices, however short, must not make any."""
    spec = teacher_student(plan={"name": "population", "dynamics": "flow"})
    one, two = (engine([Member(spec, 0)]) for _ in range(2))
    a = [c for c in one.run() if c is not None]
    b = [c for c in two.run(1e-6) if c is not None]
    assert all((x.metrics["test/loss"] == y.metrics["test/loss"]).all() for x, y in zip(a, b, strict=True))


def test_traced_fields_of_a_population_ensemble_keep_their_precision():
    """beta, sigma_0 and lr ride inside one program in 64 bits."""
    specs = [
        teacher_student(
            task={"name": "additive-teacher", "d": 12, "directions": 3, "beta": beta},
            optimizer={"name": "sgd", "lr": lr},
        )
        for beta, lr in ((0.75, 0.1), (1.5, 0.05))
    ]
    _, together = train(*specs)
    for i, spec in enumerate(specs):
        _, alone = train(spec)
        np.testing.assert_allclose(together["population/loss"][i], alone["population/loss"][0], rtol=1e-12)


def test_diverged_member_is_frozen():
    ensemble, metrics = train(teacher_student(optimizer={"name": "sgd", "lr": 1e5}), teacher_student())
    assert int(ensemble.state.diverged[0]) >= 0 > int(ensemble.state.diverged[1])
    assert np.isnan(metrics["population/loss"][0, -1])
    assert np.isfinite(metrics["population/loss"][1]).all()


def test_probe_selects_like_theory_and_measures_what_it_says():
    spec = teacher_student(steps=500)
    ensemble, metrics = train(spec)
    first = spec.model.init(stream(0, "init"), spec.task.inputs, spec.task.outputs)
    u = np.asarray(first.ridges()[1], np.float64)[:, :3]
    with jax.enable_x64(True):
        weights = np.asarray(spec.task.latent(stream(0, "world")).weights)
    chosen = greedy_selection(selection_matrix(weights, u, 4))
    v = np.asarray(ensemble.state.params.v[0])
    now = v / np.linalg.norm(v, axis=1, keepdims=True)
    for i, k in enumerate(chosen.neuron):
        for j, p in enumerate(chosen.direction):
            assert metrics["matrix"][0, -1, i, j] == pytest.approx(now[k, p] ** 2, abs=1e-12)
    strength = (np.linalg.norm(v, axis=1)[:, None] ** 2 * now[:, :3] ** 4).sum(0) / weights
    np.testing.assert_allclose(metrics["strength"][0, -1], strength, rtol=1e-10)


def test_idealised_members_predict_the_population_run():
    flow = teacher_student(
        plan={"name": "population", "dynamics": "flow"}, steps=2000, model={"name": "student", "width": 6}
    )
    _, found = train(flow, seeds=(0, 1))
    plan = teacher_student(plan={"name": "idealised"}).plan
    ideal = Idealised([Member(flow.model_copy(update={"plan": plan}), k) for k in (0, 1)])
    predicted = list(ideal.run())
    assert predicted[-1].step == 2000
    steps = np.array([c.step for c in predicted])
    for seed in (0, 1):
        at = predicted[0].metrics["predicted/time"][seed, 0]
        measured = steps[np.argmax(found["strength"][seed, :, 0] > 0.5)]
        assert 0.6 < measured / at < 1.6  # d = 12 is small
        assert predicted[0].metrics["neuron"][seed, 0] == found["neuron"][seed, -1, 0]
    assert predicted[-1].metrics["population/loss"].max() == 0


def test_a_flow_that_runs_to_infinity_has_diverged():
    """A correlation loss lets strengths grow without bound: the member is recorded as diverged, the run ends."""
    spec = teacher_student(
        plan={"name": "population", "dynamics": "flow"},
        loss="correlation",
        optimizer={"name": "sgd", "lr": 20.0},
        steps=20,
        evaluation={"every": 10},
        probes=[],
    )
    ensemble, metrics = train(spec)
    assert int(ensemble.state.diverged[0]) >= 0
    assert np.isnan(metrics["test/loss"][0, -1])


def test_chain_learns_its_slope():
    spec = teacher_student(
        task={"name": "additive-teacher", "d": 1, "directions": 1, "link": "h1"},
        model={"name": "scalar-chain", "depth": 3, "tied": False},
        plan={"name": "population", "dynamics": "flow"},
        steps=2000,
        probes=[{"name": "directions"}],
    )
    _, metrics = train(spec)
    assert metrics["strength"][0, -1, 0] == pytest.approx(1, abs=1e-5)
    assert metrics["test/loss"][0, 0] == pytest.approx(0.5 * (1 - metrics["strength"][0, 0, 0]) ** 2, rel=1e-9)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"task": {"name": "sparse-parity"}, "model": {"name": "mlp"}, "probes": []}, "additive-teacher"),
        ({"plan": {"name": "population", "dynamics": "flow"}, "optimizer": {"name": "adamw", "lr": 0.1}}, "sgd"),
        ({"plan": {"name": "idealised"}, "optimizer": {"name": "sgd", "lr": 0.1, "warmup": 5}}, "warm-up"),
        ({"plan": {"name": "population", "dynamics": "jumps"}}, "dynamics"),
        ({"plan": {"name": "idealised"}, "model": {"name": "student", "link": "h6"}}, "task's own link"),
        ({"plan": {"name": "idealised"}, "model": {"name": "student", "norm": "unit"}}, "norm 'free'"),
        ({"plan": {"name": "idealised"}, "loss": "correlation"}, "square loss"),
        ({"model": {"name": "mlp"}, "probes": []}, "'mlp'"),
        ({"model": {"name": "mlp"}, "plan": {"name": "online", "batch": 4}}, "probe 'directions'"),
        ({"probes": [{"name": "rank-bins"}]}, "0 skills"),
        ({"task": {"name": "additive-teacher", "d": 3, "directions": 4}}, "orthonormal"),
        ({"task": {"name": "additive-teacher", "link": "g4"}}, "a link is"),
        ({"task": {"name": "additive-teacher", "link": {"4": 1.0, "6": 1.0}}}, "add up to 1"),
        ({"task": {"name": "additive-teacher", "link": {"0": 1.0}}}, "degrees from 1"),
        ({"evaluation": {"every": 5, "per_decade": 0}}, "per_decade"),
    ],
)
def test_bad_input_is_one_line(changes, message):
    with pytest.raises(InputError, match=message) as error:
        teacher_student(**changes)
    assert "\n" not in str(error.value)


def composition(plan, skills, **changes):
    return Spec.parse(
        {
            "task": {"name": "k-composition", "d": 6, "k": 4},
            "skills": skills,
            "rank_order": "random",
            "model": {"name": "product", "r": 0.4},
            "plan": plan,
            "optimizer": {"name": "sgd", "lr": 0.05},
            "loss": "square",
            "steps": 40,
            "evaluation": {"every": 20, "samples": 4096},
            "probes": [{"name": "skill-error"}],
            **changes,
        }
    )


def member_of(spec, seed):
    """(weights folded with the hidden signs, frequencies of skills), drawn as any engine draws them."""
    from lopsided.skills.ranks import skill_at_rank

    target = np.asarray(spec.task.latent(stream(seed, "world")), np.float64)
    first = spec.model.init(stream(seed, "init"), spec.task.inputs, spec.task.outputs)
    order = np.asarray(skill_at_rank(spec.rank_order, spec.task.n_skills, seed))
    return np.asarray(first.w, np.float64) * target, order


@pytest.mark.parametrize(("start", "end"), [(0.0, 0.0), (1.5, 1.5), (1.5, 0.0)])
def test_steps_under_skill_frequencies_are_those_of_theory(start, end):
    """Every step trains on that step's frequencies, in the member's own rank order; the test loss is uniform."""
    from lopsided.theory import k_composition as theory

    skills = {"name": "annealed", "start": start, "end": end, "begin": 0.0, "finish": 0.5}
    spec = composition({"name": "population"}, skills if start else {"name": "uniform"})
    ensemble = engine([Member(spec, s) for s in range(3)])
    found = list(ensemble.run())[-1].metrics
    for seed in range(3):
        u, order = member_of(spec, seed)
        path = spec.skills.schedule(6)
        for t in range(40):
            p = np.zeros(6)
            p[order] = path.probabilities(t / 40)
            u = u - 0.05 * theory.gradient(u, p, 4)
        assert found["test/loss"][seed] == pytest.approx(theory.loss(u, np.full(6, 1 / 6), 4), rel=1e-7)
        assert found["skills/error"][seed] == pytest.approx(min(abs(u - 1).max(), abs(u + 1).max()), rel=1e-6)


def test_flow_under_moving_frequencies_is_the_limit_of_small_steps():
    skills = {"name": "annealed", "start": 2.0, "end": 0.0, "begin": 0.1, "finish": 0.6}
    flow = composition({"name": "population", "dynamics": "flow"}, skills)
    fine = composition(
        {"name": "population"}, skills, steps=4000, optimizer={"name": "sgd", "lr": 0.0005}, evaluation={"every": 4000}
    )
    values = [list(engine([Member(s, 1)]).run())[-1].metrics["skills/error"] for s in (flow, fine)]
    assert values[0] == pytest.approx(values[1], rel=1e-3)


def test_exact_loss_of_the_product_model_is_what_samples_average_to():
    spec = composition({"name": "online", "batch": 8}, {"name": "power-law", "alpha": 1.0}, probes=["population-loss"])
    found = list(engine([Member(spec, s) for s in range(8)]).run())[-1].metrics
    assert found["population/loss"].mean() == pytest.approx(found["test/loss"].mean(), rel=0.1)


def test_population_plans_of_the_product_model_refuse_other_models_and_losses():
    with pytest.raises(InputError, match="model 'product'; this one is 'transformer'"):
        composition({"name": "population"}, {"name": "uniform"}, model={"name": "transformer"}, probes=[])
    with pytest.raises(InputError, match="valid: square, correlation"):
        composition({"name": "population"}, {"name": "uniform"}, loss="logistic")
