"""What every probe promises: numbers for every member, or one line that says what it is for."""

from collections import defaultdict

import numpy as np
import pytest

from lopsided.core.engine import Member
from lopsided.core.errors import InputError
from lopsided.core.registry import registered
from lopsided.core.spec import Spec
from tests.engines import engine

SETTINGS = {
    "parity, perceptron": {"task": {"name": "sparse-parity", "d": 6, "k": 2}, "model": {"name": "mlp", "width": 4}},
    "skills, product": {"task": {"name": "k-composition", "d": 6, "k": 2}, "model": {"name": "product"}},
    "teacher, student": {
        "task": {"name": "additive-teacher", "d": 6, "directions": 2},
        "model": {"name": "student", "width": 4},
    },
    "teacher, perceptron": {
        "task": {"name": "additive-teacher", "d": 6, "directions": 2},
        "model": {"name": "mlp", "width": 4},
    },
    "teacher, chain": {
        "task": {"name": "additive-teacher", "d": 1, "directions": 1, "link": "h1"},
        "model": {"name": "scalar-chain"},
    },
    "problems, transformer": {
        "task": {"name": "grade-school-math", "ops": (1, 1), "modulus": 5},
        "model": {"name": "transformer", "layers": 1, "width": 8, "heads": 2, "attention": "causal"},
    },
}


def attempt(parts):
    """(spec, None), or (None, why not)."""
    rest = {
        "plan": {"name": "online", "batch": 4},
        "optimizer": {"name": "sgd", "lr": 0.01},
        "loss": "cross-entropy" if parts["model"]["name"] == "transformer" else "square",
        "steps": 2,
        "evaluation": {"every": 2, "samples": 8},
    }
    try:
        return Spec.parse({**parts, **rest}), None
    except InputError as error:
        return None, str(error)


@pytest.mark.slow
@pytest.mark.parametrize("setting", SETTINGS)
def test_measures_every_member_or_says_what_it_is_for(setting, monkeypatch):
    """All probes that fit a setting measure in one run: a program for each would take most of this file's time."""
    fitting, metrics = [], defaultdict(set)
    for name, probe in registered("probe").items():
        spec, refusal = attempt({**SETTINGS[setting], "probes": [{"name": name}]})
        if spec is None:
            assert f"probe {name!r}" in refusal
            assert "\n" not in refusal
            continue
        fitting.append({"name": name})
        for method in ("measure", "conclude"):
            monkeypatch.setattr(probe, method, noting(getattr(probe, method), metrics[name]))
    spec, refusal = attempt({**SETTINGS[setting], "probes": fitting})
    assert refusal is None
    found = [c for c in engine([Member(spec, s) for s in range(2)]).run() if c is not None][-1].metrics
    own = {k: v for k, v in found.items() if not k.startswith(("test/", "train/"))}
    assert all(metrics.values())
    assert set(own) == set().union(*metrics.values())
    for metric, values in own.items():
        assert values.shape[:1] == (2,)
        assert metric.startswith("norm/u") or np.isfinite(values).all(), metric


def noting(method, names):
    """A probe's `method`, which adds the names of its metrics to `names`."""

    def noted(probe, context):
        found = method(probe, context)
        names.update(found)
        return found

    return noted


@pytest.mark.parametrize("name", list(registered("probe")))
def test_fits_at_least_one_setting(name):
    probe = registered("probe")[name]()
    fits = 0
    for setting in SETTINGS.values():
        task, model = (registered(kind)[setting[kind]["name"]].parse(setting[kind]) for kind in ("task", "model"))
        try:
            probe.check(task, model)
            fits += 1
        except InputError:
            pass
    assert fits


def test_training_set_is_the_changed_one(parity):
    """A set of few samples, balanced: its own accuracy is fitted while the test accuracy is not."""
    spec = parity(
        task={"name": "sparse-parity", "d": 16, "k": 4},
        model={"name": "mlp", "width": 128},
        plan={"name": "full-batch", "size": 32},
        training_set={"remove": "balanced-inputs"},
        steps=600,
        evaluation={"every": 600, "samples": 1024},
        probes=[{"name": "train-metrics", "samples": 100}],
    )
    found = list(engine([Member(spec, s) for s in range(3)]).run())[-1].metrics
    assert (found["train-set/accuracy"] > 0.97).all()
    assert (found["test/accuracy"] < 0.75).all()
