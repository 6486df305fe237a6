"""A mistake in a recipe file's claims shows at smoke scale, before hours of training."""

import pytest

from lopsided.core.errors import InputError
from lopsided.runs.recipe_run import prepare
from lopsided.store.parts import Store

RECIPE = """
from lopsided.recipe import *
from tests.library.small import spec

def arms(scale):
    for lr in (0.1, 0.5):
        yield arm(spec(lr), speed="slow" if lr == 0.1 else "fast")

def slow_ends_lower(r):
    return below(r["NAME"].final("METRIC"), 1.0, "final accuracy")

recipe = Recipe(name="NAMED", paper="ours", figure_number="none", question="?", about="", arms=arms,
    scales={"smoke": (2, 1), "laptop": (2, 1)}, figure=lambda r: Figure("none", []),
    claims=[Statement("the slow one ends lower", "none", slow_ends_lower)])
"""


def run_of(folder, name, metric, scale="smoke"):
    """The run of a recipe file whose claim names this arm and metric, trained."""
    file = folder / "tried_out.py"
    file.write_text(RECIPE.replace("NAMED", "tried-out").replace("NAME", name).replace("METRIC", metric))
    asked = prepare(str(file), scale, None, ())
    asked.train(Store(folder / "rows"))
    return asked, asked.results(Store(folder / "rows"))


def test_sound_claims_say_nothing(tmp_path, capsys):
    asked, results = run_of(tmp_path, "slow", "test/accuracy")
    assert [claim.verdict for claim in asked.claims(results)] == ["not run"]
    assert "cannot be decided" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "metric", "said"),
    [("slwo", "test/accuracy", "Did you mean 'slow'"), ("slow", "test/acuracy", "has no metric 'test/acuracy'")],
)
def test_an_arm_or_metric_that_is_not_there_is_named(tmp_path, capsys, name, metric, said):
    asked, results = run_of(tmp_path, name, metric)
    assert [claim.verdict for claim in asked.claims(results)] == ["not run"]
    assert said in capsys.readouterr().err


def test_after_the_training_it_is_an_input_error(tmp_path):
    asked, results = run_of(tmp_path, "slwo", "test/accuracy", "laptop")
    with pytest.raises(InputError, match="Did you mean 'slow'"):
        asked.claims(results)
