"""One reading of a spec: for every traced field of every part, a member with another value than its neighbours equals
the same member alone, in training rows and evaluation rows, in a process that compiled another spec of that static key
before."""

import numpy as np
import pytest

from lopsided.core.config import Config
from lopsided.core.engine import Member
from lopsided.core.registry import PARTS, registered
from lopsided.core.spec import Spec
from tests import scratch  # noqa: F401  (registers a task whose samples have a traced field)
from tests.engines import engine

PARITY = {
    "task": {"name": "sparse-parity", "d": 6, "k": 2},
    "model": {"name": "mlp", "width": 8},
    "plan": {"name": "online", "batch": 8},
    "optimizer": {"name": "sgd", "lr": 0.3},
    "loss": "square",
    "steps": 12,
    "evaluation": {"every": 6, "samples": 64},
}
TEACHER = {
    **PARITY,
    "task": {"name": "additive-teacher", "d": 6, "directions": 3},
    "model": {"name": "student", "width": 4, "sigma_0": 0.5},
    "optimizer": {"name": "sgd", "lr": 0.02},
    "probes": ["directions", "population-loss"],
}
LINE = {**PARITY, "task": {"name": "gained-line"}, "model": {"name": "scalar-chain", "tied": False}}
TWO_PHASE = {
    **PARITY,
    "task": {"name": "sparse-parity", "d": 6, "k": 2},
    "model": {"name": "quadratic-neuron", "m": 16.0},
    "plan": {"name": "two-phase", "size": 40, "a_star": 0.5},
    "loss": "correlation",
    "steps": 60,
    "evaluation": {"every": 20},
}
PRODUCT = {**PARITY, "task": {"name": "k-composition", "d": 6, "k": 2}, "model": {"name": "product", "r": 0.5}}
TRAIN_SET = {"probes": [{"name": "train-metrics", "samples": 32}]}
PHASES = {"name": "phases", "batch": 8, "phases": [{"steps": 4, "size": 8}, {"steps": 8, "size": 32}]}
STAGES = [{"steps": 4, "weights": [1]}, {"steps": 8, "weights": [0, 1]}]
TRACKING = {
    **PARITY,
    "task": {"name": "state-tracking", "group": "S3", "hops": 2},
    "model": {"name": "transformer", "layers": 1, "width": 8, "heads": 2},
    "plan": {"name": "curriculum", "batch": 8, "stages": STAGES},
    "loss": "cross-entropy",
}
STEPS = {"name": "full-batch-phases", "phases": [{"steps": 4, "size": 8}, {"steps": 8, "size": 8}]}
AUTO = {"name": "auto-schedule", "batch": 8, "first": 8, "last": 32, "phases": 3, "epochs": 2}
LATER = {"plan.phases.0.steps": ("plan.phases.1.steps", -2), "plan.stages.0.steps": ("plan.stages.1.steps", -2)}
"""Fields whose change asks for the opposite change of another: phases fill the run."""
CASES = {
    "task.beta": (TEACHER, 2.0),
    "task.gain": (LINE, 10.0),
    "model.sigma_0": (TEACHER, 0.9),
    "model.start": (LINE, 0.6),
    "model.r": (PRODUCT, 0.9),
    "model.m": (TWO_PHASE, 4.0),
    "plan.a_star": (TWO_PHASE, 0.1),
    "plan.epsilon": (TWO_PHASE, 0.4),
    "plan.size": ({**PARITY, **TRAIN_SET, "plan": {"name": "fixed", "size": 64, "batch": 8}}, 16),
    "plan.repeated": ({**PARITY, "plan": {"name": "two-set", "size": 16, "batch": 8}}, 0.9),
    "plan.accuracy": ({**PARITY, "plan": AUTO}, 0.3),
    "plan.epochs": ({**PARITY, "plan": AUTO}, 1),
    "plan.phases.0.size": ({**PARITY, **TRAIN_SET, "plan": PHASES}, 4),
    "plan.phases.0.steps": ({**PARITY, "plan": PHASES}, 6),
    "plan.stages.0.steps": (TRACKING, 6),
    "optimizer.lr": (PARITY, 0.05),
    "optimizer.warmup": (PARITY, 6),
    "optimizer.floor": ({**PARITY, "optimizer": {"name": "sgd", "lr": 0.3, "schedule": "cosine"}}, 0.9),
    "optimizer.clip": ({**PARITY, "optimizer": {"name": "sgd", "lr": 0.3, "clip": 1.0}}, 0.05),
    "optimizer.b1": ({**PARITY, "optimizer": {"name": "adamw", "lr": 0.03}}, 0.5),
    "optimizer.b2": ({**PARITY, "optimizer": {"name": "adamw", "lr": 0.03}}, 0.8),
    "optimizer.eps": ({**PARITY, "optimizer": {"name": "adamw", "lr": 0.03}}, 0.1),
    "optimizer.weight_decay": ({**PARITY, "optimizer": {"name": "adamw", "lr": 0.03}}, 0.9),
    "optimizer.hold": ({**PARITY, "optimizer": {"name": "anytime-sgd", "lr": 0.3, "hold": 2.0}}, 50.0),
    "optimizer.power": ({**PARITY, "optimizer": {"name": "anytime-sgd", "lr": 0.3, "hold": 2.0}}, 0.1),
    "groups.0.init": ({**PARITY, "groups": [{"match": "layers.0.*", "init": 1.0}]}, 3.0),
    "groups.0.lr": ({**PARITY, "groups": [{"match": "layers.0.*", "lr": 1.0}]}, 3.0),
    "training_set.biased_by": ({**PARITY, **TRAIN_SET, "training_set": {"biased_by": 64}}, 3),
}
"""A spec and another value for each traced field."""


def traced_fields(cls, seen=()):
    """Names of the traced fields of a class, those of nested configurations with their path."""
    found = set()
    for name, field in cls.model_fields.items():
        if any(type(m).__name__ == "_TracedMark" for m in field.metadata):
            found.add(name)
        for inner in _configs(field.annotation):
            if inner not in seen:
                found |= {f"{name}.*.{n}" for n in traced_fields(inner, (*seen, cls))}
    return found


def _configs(annotation):
    if isinstance(annotation, type):
        return [annotation] if issubclass(annotation, Config) else []
    return [c for a in getattr(annotation, "__args__", ()) for c in _configs(a)]


def test_every_traced_field_has_a_case():
    """A new traced field fails here until it is tried below."""
    known = {".".join("*" if p.isdigit() else p for p in path.split(".")) for path in CASES}
    for kind in PARTS:
        for cls in registered(kind).values():
            for name in traced_fields(cls):
                if name.startswith(("plan.", "others.")):  # plans inside a plan: tried on their own
                    continue
                if kind != "skills":
                    assert f"{kind}.{name}" in known, (kind, cls, name)
    assert {f"groups.*.{n}" for n in ("init", "lr")} | {"training_set.biased_by"} <= known


def changed(data, path, value):
    """A deep copy of nested dictionaries and lists with one value changed, and the field that gives way for it."""
    import copy

    data = copy.deepcopy(data)
    for where, what in {path: value, **({LATER[path][0]: None} if path in LATER else {})}.items():
        place = data
        *parents, last = where.split(".")
        for parent in parents:
            place = place[int(parent)] if isinstance(place, list) else place[parent]
        place[last] = place[last] + LATER[path][1] if what is None else what
    return data


def metrics_of(members):
    """{metric: (evaluations, members, ...)}."""
    found = [e.metrics for e in engine(members).run() if e is not None]
    return {name: np.stack([m[name] for m in found]) for name in found[0]}


@pytest.mark.slow
@pytest.mark.parametrize("path", CASES)
def test_a_member_among_others_equals_the_member_alone(path):
    base, value = CASES[path]
    plain, other = Spec.parse(base), Spec.parse(changed(base, path, value))
    assert plain.static_key() == other.static_key()
    metrics_of([Member(plain, 9)])  # this process has compiled another spec of that static key
    together = metrics_of([Member(plain, 0), Member(other, 0), Member(plain, 1), Member(other, 1)])
    alone, neighbour = metrics_of([Member(other, 1)]), metrics_of([Member(plain, 1)])
    for name, values in alone.items():
        np.testing.assert_allclose(together[name][:, 3], values[:, 0], rtol=2e-4, atol=1e-5, err_msg=name)
        np.testing.assert_allclose(together[name][:, 2], neighbour[name][:, 0], rtol=2e-4, atol=1e-5, err_msg=name)
    assert any(not np.allclose(alone[n], neighbour[n], rtol=1e-3, equal_nan=True) for n in alone), (
        "nothing depends on it"
    )


def test_the_target_s_size_reaches_the_test_loss():
    """The case that was found: gains 1 and 10 trained apart and were tested alike."""
    specs = [Spec.parse(changed(LINE, "task.gain", gain)) for gain in (1.0, 10.0)]
    found = metrics_of([Member(spec, 0) for spec in specs])["test/loss"][0]
    assert found[1] > 20 * found[0]
