"""A mistake in a recipe file's claims shows at smoke scale, before hours of training."""

import pytest

from lopsided.core.errors import InputError
from lopsided.store.parts import Store
from lopsided.study.recipe_run import prepare

RECIPE = """
from lopsided.recipe import OWN, Below, Figure, Final, Recipe, Statement, arm
from tests.library.small import spec

def arms(scale):
    for lr in (0.1, 0.5):
        yield arm(spec(lr), speed="slow" if lr == 0.1 else "fast")

recipe = Recipe(name="NAMED", paper="ours", figure_number="none", question="?", about="", arms=arms,
    scales={"smoke": (2, 1), "laptop": (2, 1)}, figure=lambda r: Figure("none", []),
    claims=[Statement("the slow one ends lower", OWN, Below(Final({"speed": "NAME"}, "METRIC"), 1.0, "accuracy"))])
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


@pytest.mark.parametrize("scale", ["smoke", "laptop"])
@pytest.mark.parametrize(
    ("name", "metric", "said"),
    [
        ("slwo", "test/accuracy", "Did you mean 'slow'"),
        ("slow", "test/acuracy", "Did you mean 'test/accuracy'"),
        ("slow", "norm/ratio", "unknown metric 'norm/ratio'"),
    ],
)
def test_an_arm_or_metric_that_is_not_there_is_named_before_training(tmp_path, name, metric, said, scale):
    with pytest.raises(InputError, match=f"claim 'the slow one ends lower': .*{said}"):
        run_of(tmp_path, name, metric, scale)
    assert not (tmp_path / "rows").exists()


def test_a_coordinate_that_is_not_there_is_named(tmp_path):
    file = tmp_path / "tried_out.py"
    file.write_text(RECIPE.replace("NAMED", "tried-out").replace('"speed": "NAME"', '"sped": "slow"'))
    with pytest.raises(InputError, match=r"unknown coordinate 'sped'. Did you mean 'speed'"):
        prepare(str(file), "laptop", None, ())
