"""`--set key=value` under fuzzing: a new spec, or a refusal in one line. Never a traceback."""

import json
import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lopsided.core.errors import InputError
from lopsided.core.spec import Spec
from lopsided.study.overrides import apply
from lopsided.study.recipe_run import prepare
from tests.conftest import PARITY, TRACKING

EXAMPLES = 10_000 if os.environ.get("HYPOTHESIS_PROFILE") == "nightly" else 300


def paths(data, prefix=""):
    """Every dotted path of a spec."""
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in items:
        yield f"{prefix}{key}"
        yield from paths(value, f"{prefix}{key}.")


BASES = [Spec.parse(PARITY), Spec.parse(TRACKING)]
KNOWN = sorted({p for base in BASES for p in paths(base.model_dump(mode="json"))})
keys = st.sampled_from(KNOWN) | st.text(max_size=12)
numbers = st.integers() | st.floats() | st.sampled_from([0, -1, 1, 2**31, 2**63, 1e308, 1e-320])
values = st.text(max_size=12) | st.recursive(
    numbers | st.none() | st.booleans() | st.sampled_from(["online", "S5", "power-law", "uniform", "sgd"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["name", "alpha", "size"]), inner),
    max_leaves=4,
).map(json.dumps)


def refusal(base, override):
    """None, or the one line that the user reads; anything else than InputError fails the test."""
    try:
        spec = apply(base, [override])
    except InputError as error:
        return str(error)
    assert Spec.parse(json.loads(spec.canonical_json())) == spec
    return None


@settings(max_examples=EXAMPLES)
@given(st.sampled_from(BASES), keys, values)
def test_any_override_is_a_spec_or_one_line(base, key, value):
    message = refusal(base, f"{key}={value}")
    assert message is None or (message and "\n" not in message)


@settings(max_examples=EXAMPLES)
@given(st.sampled_from(BASES), st.text(max_size=30))
def test_any_text_is_a_spec_or_one_line(base, text):
    message = refusal(base, text)
    assert message is None or "\n" not in message


@pytest.mark.parametrize(
    ("recipe", "overrides", "message"),
    [
        ("layer-lr", ["groups.0.lr=1"], "differ"),
        ("mup", ["groups=[]"], "groups"),
        ("bias-removal", ["training_set.remove=none"], "differ"),
        ("set-size", ["plan.size=64"], "differ"),
        ("set-size", ["optimizer.lr=1"], "differ"),
        ("set-size", ["until=null"], "which members have learned"),
        ("set-size", ["until.metric=test/loss"], "an accuracy takes at_least, a loss at_most"),
        ("two-phase-theory", ["training_set.remove=balanced-inputs"], "takes the task's own samples"),
        ("two-phase-theory", ['probes=[{"name": "train-metrics"}]'], "its own metrics"),
    ],
)
def test_what_a_recipe_compares_cannot_be_set(recipe, overrides, message):
    with pytest.raises(InputError, match=message):
        prepare(recipe, "smoke", None, overrides)


def test_what_a_recipe_does_not_compare_can_be_set():
    assert len(prepare("set-size", "smoke", None, ["model.width=12"]).arms) == len(
        prepare("set-size", "smoke", None, []).arms
    )
    assert prepare("small-vs-large", "smoke", 3, ["loss=square"]).seeds == 3
