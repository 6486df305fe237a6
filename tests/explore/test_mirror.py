"""The copy of a folder's rows: the same numbers as the store's, whatever was committed, merged or overtaken since."""

import shutil

import numpy as np
import pytest

import lopsided as lop
from lopsided.explore import curves
from lopsided.explore.runs import PlacedArm
from lopsided.results.stored import load
from lopsided.store import mirror as module
from lopsided.store.compact import compact
from lopsided.store.mirror import Mirror
from lopsided.store.parts import Store
from tests.conftest import PARITY

SPEC = lop.Spec.parse(PARITY)
LEAVES = SPEC.replace(until={"metric": "test/loss", "at_most": 0.6})
DIVERGES = SPEC.replace(optimizer=lop.optim.SGD(lr=1e6), loss="square")


@pytest.fixture
def mirrored(tmp_path):
    store = Store(tmp_path / "store")
    lop.run({"plain": SPEC, "leaves": LEAVES, "diverges": DIVERGES}, seeds=5, out=store)
    mirror = Mirror(Store(store.root))
    yield store, mirror
    mirror.close()


def _copy(mirror):
    while not mirror.refresh():
        pass


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["test/accuracy", "test/loss"])
@pytest.mark.parametrize("spec", [SPEC, LEAVES, DIVERGES], ids=["plain", "leaves", "diverges"])
def test_curves_are_those_of_the_report(mirrored, spec, metric):
    store, mirror = mirrored
    _copy(mirror)
    results = load(store, "", "", {"arm": spec}, {"arm": 5})
    assert results is not None
    arm = results["arm"]
    (found,) = curves.read(mirror, [PlacedArm("arm", spec.content_hash(), spec.model_dump(mode="json"), {})], metric)
    at = np.searchsorted(arm.steps, found.steps)
    np.testing.assert_array_equal(found.values, arm.metric(metric)[:, at])
    np.testing.assert_array_equal(found.values[:, -1], arm.final(metric))
    assert found.seeds.tolist() == list(arm.seeds)
    until = spec.until
    if until and until.metric == metric:
        mine, theirs = curves.times(found, "steps", until.at_most, True), arm.times_by_its_rule("steps")
        assert mine.ordinal.tolist() == theirs.ordinal.tolist()


@pytest.mark.slow
def test_few_parts_at_a_time_and_no_row_twice(mirrored, monkeypatch):
    store, mirror = mirrored
    lop.run({"plain": SPEC}, seeds=range(5, 9), out=store)
    monkeypatch.setattr(module, "BATCH", 1)
    looks = 1
    while not mirror.refresh():
        looks += 1
    assert looks == len(store.as_of_now().parts()) == mirror.copied[0] > 2
    version = mirror.version
    assert mirror.refresh()
    assert mirror.version == version
    assert {seed for spec, seed, whole in mirror.members() if spec == SPEC.content_hash() and whole} == set(range(9))


@pytest.mark.slow
def test_merged_parts_replace_those_that_they_were_made_of(mirrored):
    store, mirror = mirrored
    lop.run({"plain": SPEC}, seeds=range(5, 9), out=store)
    _copy(mirror)
    before = mirror.rows([SPEC.content_hash()], "test/loss")
    compact(Store(store.root))
    _copy(mirror)
    after = mirror.rows([SPEC.content_hash()], "test/loss")
    for name, column in before[SPEC.content_hash()].items():
        if name == "job":  # of the merged part
            continue
        np.testing.assert_array_equal(np.asarray(column), np.asarray(after[SPEC.content_hash()][name]))
    assert mirror.copied[0] == len(store.as_of_now().parts())


@pytest.mark.slow
def test_an_unfinished_job_is_there_but_not_complete(mirrored):
    store, mirror = mirrored
    for part in store.as_of_now().parts():  # what is left when the last part of a job is not there yet
        if SPEC.content_hash() in part.seeds:
            shutil.rmtree(store.path(part))
    _copy(mirror)
    assert SPEC.content_hash() not in {spec for spec, _, whole in mirror.members() if whole}
    assert not mirror.rows([SPEC.content_hash()], "test/loss")


@pytest.mark.slow
def test_what_nobody_has_is_empty(mirrored):
    _, mirror = mirrored
    assert mirror.metrics(["0" * 16]) == []
    assert not mirror.rows(["0" * 16], "test/loss")
    _copy(mirror)
    assert not mirror.rows([SPEC.content_hash()], "no such metric")
    assert "test/loss" in mirror.metrics([SPEC.content_hash()])
