"""A part that is edited while a process runs is trained as it is now, not by a program that was compiled before."""

import importlib
import itertools
import sys

import numpy as np
import pytest

import lopsided as lop
from lopsided.core import code

TEXT = """
from typing import Literal
from lopsided.tasks import SparseParity
from lopsided.part import register

SCALE = {scale}

def shrunk(sample):
    return sample._replace(inputs=sample.inputs * SCALE)

@register
class Edited(SparseParity):
    name: Literal["edited-{kind}"] = "edited-{kind}"

    def sample(self, key, index, context):
        return shrunk(super().sample(key, index, context))
"""


def from_a_cell(scale, folder):
    """The class as a notebook's cell makes it: it has no file."""
    names = {"__name__": "__main__"}
    exec(TEXT.format(scale=scale, kind="cell"), names)
    return names["Edited"]


def from_a_file(scale, folder):
    """The class of a module that is written anew, and loaded again."""
    (folder / "edited_part.py").write_text(TEXT.format(scale=scale, kind="file"))
    sys.path.insert(0, str(folder))
    sys.dont_write_bytecode = True
    try:
        module = sys.modules.get("edited_part")
        return (importlib.reload(module) if module else importlib.import_module("edited_part")).Edited
    finally:
        sys.path.remove(str(folder))
        sys.dont_write_bytecode = False


@pytest.fixture
def forgotten():
    yield
    sys.modules.pop("edited_part", None)


@pytest.mark.parametrize(
    "until", [None, pytest.param({"metric": "test/accuracy", "at_least": 1.0}, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("made", [from_a_cell, from_a_file])
def test_what_is_trained_is_the_class_as_it_is_now(made, until, tmp_path, forgotten):
    folders = map(str, itertools.count())

    def losses(scale):
        spec = lop.Spec(
            task=made(scale, tmp_path)(d=8, k=2), model=lop.models.MLP(width=4), plan=lop.plans.Online(batch=8),
            optimizer=lop.optim.SGD(lr=0.1), loss="logistic", steps=4, evaluation={"every": 2, "samples": 16},
            **({"until": until} if until else {}),
        )  # fmt: skip
        return lop.run({"arm": spec}, seeds=1, out=tmp_path / next(folders))["arm"].metric("test/loss")

    first, second, again = losses(1.0), losses(0.25), losses(1.0)
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, second)


PART = """
from typing import Literal
{imported}
from lopsided.tasks import SparseParity
from lopsided.part import register

@register
class Helped(SparseParity):
    name: Literal["helped"] = "helped"

    def sample(self, key, index, context):
        return {called}(super().sample(key, index, context))
"""
HELPER = "def shrunk(sample):\n    return sample._replace(inputs=sample.inputs * {scale})\n"


@pytest.fixture
def helped(tmp_path, monkeypatch):
    """`made(imported, called)` gives a part and its helper, two modules; `asked(task)` a digest and losses."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    (tmp_path / "shrinking.py").write_text(HELPER.format(scale=1.0))

    def made(imported, called):
        (tmp_path / "helped.py").write_text(PART.format(imported=imported, called=called))
        return importlib.import_module("helped"), importlib.import_module("shrinking")

    def asked(task):
        spec = lop.Spec(
            task=task(d=8, k=2), model=lop.models.MLP(width=4), plan=lop.plans.Online(batch=8),
            optimizer=lop.optim.SGD(lr=0.1), loss="logistic", steps=4, evaluation={"every": 2, "samples": 16},
        )  # fmt: skip
        code.look_again()
        digest = code.parts_digest(spec.task)
        return digest, lop.run({"arm": spec}, seeds=1, out=tmp_path / digest[6:])["arm"].metric("test/loss")

    yield made, asked
    for name in ("helped", "shrinking"):
        sys.modules.pop(name, None)


@pytest.mark.slow
@pytest.mark.parametrize("from_a_notebook", [False, True])
def test_a_helper_that_is_loaded_again_is_another_program(helped, from_a_notebook, tmp_path):
    made, asked = helped
    part, helper = made("import shrinking", "shrinking.shrunk")
    names = {"__name__": "__main__"}
    if from_a_notebook:
        exec((tmp_path / "helped.py").read_text().replace('"helped"', '"helped-cell"'), names)
    task = names.get("Helped", part.Helped)
    before, losses = asked(task)
    (tmp_path / "shrinking.py").write_text(HELPER.format(scale=0.25))
    assert asked(task)[0] == before  # edited, and not loaded
    importlib.reload(helper)
    after, others = asked(task)
    assert after != before
    assert not np.array_equal(losses, others)


def test_what_a_part_still_holds_of_a_helper_that_was_loaded_again_is_refused(helped, tmp_path):
    made, asked = helped
    part, helper = made("from shrinking import shrunk", "shrunk")
    before, _ = asked(part.Helped)
    (tmp_path / "shrinking.py").write_text(HELPER.format(scale=0.25))
    importlib.reload(helper)
    with pytest.raises(lop.InputError, match="'shrinking' was loaded again, and 'helped' still uses its old 'shrunk'"):
        asked(part.Helped)
    assert asked(importlib.reload(part).Helped)[0] != before


def test_a_constant_that_another_cell_changes_is_seen_and_code_is_read_once_a_run(tmp_path, monkeypatch):
    names = {"__name__": "__main__"}
    exec(TEXT.format(scale=1.0, kind="constant"), names)
    reads = []
    monkeypatch.setattr(code, "_of_any", lambda classes, whole=code._of_any: reads.append(classes) or whole(classes))

    def losses(folder):
        specs = {
            f"rate {rate}": lop.Spec(
                task=names["Edited"](d=8, k=2), model=lop.models.MLP(width=4), plan=lop.plans.Online(batch=8),
                optimizer=lop.optim.SGD(lr=rate), loss="logistic", steps=4, evaluation={"every": 2, "samples": 16},
            )
            for rate in (0.1, 0.2, 0.3, 0.4, 0.5)
        }  # fmt: skip
        return lop.run(specs, seeds=1, out=tmp_path / folder)["rate 0.1"].metric("test/loss")

    first = losses("first")
    assert len(reads) < 10  # twice for keys and names of rows, not for each of five specs at each report
    names["SCALE"] = 0.25  # the class is the same object
    assert not np.array_equal(first, losses("second"))
