import json
import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lopsided.core.errors import InputError
from lopsided.core.spec import Spec
from lopsided.optim.optimizers import SGD


def test_canonical_json_does_not_depend_on_how_it_was_written(parity):
    spec = parity()
    shuffled = dict(reversed(list(spec.model_dump(mode="json").items())))
    assert Spec.parse(shuffled).canonical_json() == spec.canonical_json()
    assert Spec.parse(json.loads(spec.canonical_json())).content_hash() == spec.content_hash()


def test_hash_is_pinned(parity):
    """The hash names stored rows: if this changes, every store loses its runs. Update only with a new schema."""
    assert parity().content_hash() == "f10734753425c398"


OTHER = {
    "task": {"name": "sparse-parity", "d": 8, "k": 3},
    "rank_order": "random",
    "model": {"name": "mlp", "width": 17},
    "plan": {"name": "online", "batch": 16},
    "optimizer": {"name": "sgd", "lr": 0.25},
    "loss": "square",
    "steps": 61,
    "evaluation": {"every": 10, "samples": 64},
    "probes": [{"name": "weight-norms"}],
    "groups": [{"match": "layers.0.*", "lr": 2.0}],
    "training_set": {"remove": "repeats"},
    "until": {"metric": "test/accuracy", "at_least": 0.9},
    "products": "bfloat16",
}
"""Another value for every field, `skills` apart, which only tasks with skills have."""


def test_every_field_changes_the_hash(parity, tracking):
    assert set(OTHER) | {"skills"} == set(Spec.model_fields)
    changed = [parity(**{field: value}) for field, value in OTHER.items()]
    assert len({s.content_hash() for s in [parity(), *changed]}) == 1 + len(OTHER)
    assert tracking().content_hash() != tracking(skills={"name": "uniform"}).content_hash()


def test_negative_zero_is_zero():
    assert SGD(lr=1, floor=-0.0).content_hash() == SGD(lr=1, floor=0.0).content_hash()


def test_traced_fields_do_not_split_an_ensemble_but_shapes_do(parity):
    base = parity()
    traced = parity(optimizer={"name": "sgd", "lr": 0.1}, plan={"name": "fixed", "size": 99, "batch": 16})
    shape = parity(plan={"name": "fixed", "size": 64, "batch": 8})
    assert traced.static_key() == base.static_key() != shape.static_key()


def test_with_traced_puts_values_back(parity):
    spec = parity()
    assert spec.with_traced(spec.traced_values()) == spec
    assert spec.with_traced({"optimizer": {"lr": 7.0}}).optimizer.lr == 7.0


@pytest.mark.parametrize(
    ("change", "names"),
    [
        ({"stepz": 3}, ["stepz", "steps"]),
        ({"steps": 0}, ["steps", "0"]),
        ({"steps": "many"}, ["steps", "many"]),
        ({"task": {"name": "sparse-parity", "k": 0}}, ["task", "k", "0"]),
        ({"task": {"name": "sparse-parity", "d": 4, "k": 5}}, ["task", "k = 5", "d = 4"]),
        ({"task": {"name": "sparse-party"}}, ["sparse-parity"]),
        ({"task": "modular"}, ["unknown task", "sparse-parity"]),
        ({"optimizer": {"name": "sgd", "lr": float("nan")}}, ["optimizer", "lr", "nan"]),
        ({"optimizer": {"name": "sgd", "lr": -1}}, ["optimizer", "lr", "-1"]),
        ({"optimizer": {"name": "sgd", "lr": 1, "momentum": 0.9}}, ["momentum", "lr"]),
        ({"evaluation": {"every": 100}}, ["evaluation.every", "100"]),
        ({"loss": "cross-entropy"}, ["loss", "square"]),
        ({"skills": {"name": "power-law", "alpha": 1.0}}, ["skills"]),
        ({"plan": {"name": "phases", "batch": 4, "phases": [{"size": 8, "steps": 5}]}}, ["steps", "60"]),
        ({"plan": {"name": "fixed", "size": 0, "batch": 4}}, ["plan", "size", "0"]),
    ],
)
def test_refusals_name_field_value_and_what_is_valid(parity, change, names):
    with pytest.raises(InputError) as error:
        parity(**change)
    message = str(error.value)
    assert "\n" not in message
    for name in names:
        assert name in message


def test_moving_distribution_needs_fresh_samples(tracking):
    with pytest.raises(InputError, match="online"):
        tracking(plan={"name": "fixed", "size": 100, "batch": 16})


@pytest.mark.slow
@given(
    key=st.sampled_from(["task", "model", "plan", "optimizer", "steps", "loss", "evaluation", "skills", "probes"]),
    value=st.recursive(
        st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=8),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
        max_leaves=5,
    ),
)
def test_anything_is_either_a_spec_or_a_one_line_refusal(key, value):
    from tests.conftest import PARITY

    message = refusal({**PARITY, key: value})
    assert message is None or "\n" not in message


def refusal(data):
    """What a bad spec is told; any other exception than InputError passes through and fails the test."""
    try:
        Spec.parse(data)
    except InputError as error:
        return str(error)
    return None


def test_the_last_digits_of_a_computed_number_are_no_other_setting(parity):
    """They depend on the processor's way to compute a power; rows must be found on another machine."""
    third = 0.1 + 0.2
    assert third != 0.3
    assert SGD(lr=third).content_hash() == SGD(lr=0.3).content_hash()
    assert SGD(lr=third).lr == 0.3
    assert SGD(lr=0.3 * (1 + 1e-9)).content_hash() != SGD(lr=0.3).content_hash()


@pytest.mark.slow
def test_recipes_have_the_same_specs_on_other_processors():
    program = (
        "from lopsided.core.registry import registered\n"
        "for name in ('composition-rate', 'plane-frequency-repetition'):\n"
        "    print(*(spec.content_hash() for spec in registered('recipe')[name].specs('laptop').values()))\n"
    )
    features = {
        "NPY_DISABLE_CPU_FEATURES": "AVX2 FMA3 AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL X86_V3 "
        "X86_V4"
    }
    found = [
        subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, env={**os.environ, **more}
        ).stdout
        for more in ({}, features)
    ]
    assert found[0] == found[1] != ""
