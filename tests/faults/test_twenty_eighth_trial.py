"""What the twenty-eighth newcomer found: a copy of a recipe file took over the run of its original."""

import pytest

from lopsided.core.errors import InputError
from lopsided.store.parts import Store
from lopsided.study import manifest
from lopsided.study.recipe_run import prepare
from tests.faults.test_thirteenth_trial import RECIPE

EDITED = RECIPE.replace("0.5", "0.25")


def asked(file):
    return prepare(str(file), "laptop", None, ())


@pytest.fixture
def copied(tmp_path):
    """A recipe's file, an identical copy beside it that was run, too, and their store."""
    store = Store(tmp_path / "out")
    store.require_writable()
    files = [tmp_path / name for name in ("mine.py", "other.py")]
    for file in files:
        file.write_text(RECIPE)
        asked(file).require_own_file(store)
        asked(file).note(store)
    return (*files, store)


def test_a_copy_that_is_edited_is_refused_and_told_of_its_original(copied):
    mine, other, store = copied
    other.write_text(EDITED)
    with pytest.raises(InputError, match=r"another recipe file of that name, mine\.py, 'moved-laptop'"):
        asked(other).require_own_file(store)
    asked(mine).require_own_file(store)


def test_the_original_of_a_copy_can_be_edited(copied):
    mine, other, store = copied
    mine.write_text(EDITED)
    asked(mine).require_own_file(store)
    asked(mine).note(store)
    with pytest.raises(InputError, match=r"mine\.py"):
        asked(other).require_own_file(store)


def test_a_file_that_was_moved_takes_its_run_along(copied):
    mine, other, store = copied
    mine.unlink()
    asked(other).note(store)
    other.write_text(EDITED)
    asked(other).require_own_file(store)
    asked(other).note(store)
    (found,) = manifest.recorded(store)
    assert found.text == asked(other).file.text
