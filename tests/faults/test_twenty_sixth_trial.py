"""What the twenty-sixth newcomer found."""

import numpy as np
import pytest

import lopsided.data as ld
from lopsided.claims.as_text import as_text
from lopsided.claims.readings import Measured
from lopsided.claims.values import Below
from lopsided.core.errors import InputError, unknown
from lopsided.stats.bounded import made_of_times
from lopsided.stats.transitions import evaluations_apart
from lopsided.store.parts import Store
from lopsided.study.recipe_run import prepare


def test_numbers_that_are_made_of_times_are_open_for_the_grid(tmp_path):
    """The coarser grid alone moved the median error from 5 to 16 %, and "seeds" were asked for."""
    arms = ("features of strength 1/p", "prediction")
    run = prepare("tour", "smoke", 2, [f"{arm}: evaluation.every=200" for arm in arms])
    run.train(Store(tmp_path))
    results = run.results(Store(tmp_path))
    assert results is not None
    (error, twice) = [each for each in run.recipe.claims if each.claim.startswith("strength")]
    for claim in (error, twice):
        reading = claim.test.of
        apart = reading.apart(results)
        assert apart > 0.1
        found = made_of_times(claim.test.decide(results), apart)
        assert (found.verdict, found.reason) == ("inconclusive", "grid")
        assert found.coarseness == apart


def test_how_far_apart_evaluations_lie_around_times():
    steps = np.array([0, 100, 200, 400, 800])
    assert evaluations_apart(steps, np.array([[150.0, np.nan], [350.0, np.inf]])) == pytest.approx(
        np.median([100 / 150, 200 / 350])
    )
    assert evaluations_apart(steps, np.array([100.0])) == 1.0  # learned by the first evaluation
    assert evaluations_apart(steps, np.array([np.nan])) == 0.0


def test_what_a_claim_says_of_its_grid_is_no_other_test():
    """Plans of --until-decided that were made before stand."""
    plain, told = (Below(Measured(len, grid=grid), 0.1, "share") for grid in (None, lambda r: 0.5))
    assert as_text(plain) == as_text(told)


@pytest.mark.parametrize("begins", [96, 384, 576, 864])
def test_a_run_that_went_on_in_its_middle_has_one_pass(begins):
    """Positions 96 to 959 came again in silence after a resume at 96."""
    stream = ld.Stream(ld.Groups([i % 50 for i in range(500)]), ld.Anneal(1.5, 0), total=960, seed=0)
    view = ld.View(list(range(500)), stream, 96)
    for position in range(begins, 960):
        view[position]
    for position in range(begins):
        view[position]
    with pytest.raises(InputError, match="pass 2 begins"):
        view[begins]


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ([f"evaluation.every = {n}, online, {'x' * 30}" for n in range(6)], "6 names"),
        ([f"{n}{'y' * 200}" for n in range(12)], "and 11 more"),
        ([f"name{n}" for n in range(100)], "and 92 more"),
    ],
    ids=["with commas", "long", "many"],
)
def test_a_list_of_names_counts_right(names, said):
    """ "and -2 more"."""
    text = str(unknown("arm", "?", names))
    assert "-" not in text
    assert len(text) < 450
    shown = sum(name in text for name in names)
    assert (f"and {len(names) - shown} more" in text) == (shown < len(names))
    assert said == "6 names" or said in text
    assert "'" in text.partition("Valid")[2] or "," not in names[0]
