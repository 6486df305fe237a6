"""Jobs are a pure function of specs, seeds and a size; a run's manifest says how they were cut."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from lopsided.core.registry import registered
from lopsided.results.stored import load
from lopsided.store.parts import Store, job_name
from lopsided.study.recipe_run import prepare
from lopsided.work.jobs import cut, wanted_members
from lopsided.work.rows import member_id
from tests.faults.helpers import ROOT, start

pytestmark = pytest.mark.slow

CODE = """
import json, sys
from lopsided.work.jobs import cut, wanted_members
from lopsided.study.recipe_run import prepare
from lopsided.work.rows import member_id
from lopsided.store.parts import job_name
arms = prepare("set-size", "laptop", None, []).arms
print(json.dumps([job_name(map(member_id, job)) for job in cut(wanted_members(list(arms.values()), 24))]))
"""


def names(cores):
    done = subprocess.run(
        ["taskset", "-c", cores, sys.executable, "-c", CODE], capture_output=True, text=True, check=True, cwd=ROOT
    )
    return json.loads(done.stdout)


def test_the_number_of_cores_changes_no_job():
    assert len(names("0")) > 1
    assert names("0") == names("0-1")


def test_every_member_is_in_one_job(parity):
    members = wanted_members([parity(), parity(optimizer={"name": "sgd", "lr": 0.1}), parity()], 50)
    assert len(members) == 100
    for size in (None, 7, 1000):
        jobs = cut(members, size)
        assert sorted(member_id(m) for job in jobs for m in job) == sorted(map(member_id, members))
        assert size is None or max(map(len, jobs)) <= size
        assert len({len(job) for job in jobs[:-1]}) <= 1


def test_the_manifest_says_how_jobs_were_cut(tmp_path):
    asked = prepare("dense-parity", "smoke", None, [])
    asked.train(Store(tmp_path))
    found = json.loads((tmp_path / "runs" / "dense-parity-smoke.json").read_text())
    jobs = cut(wanted_members(list(asked.arms.values()), asked.seeds), found["job_size"])
    assert found["jobs"] == [[job_name(map(member_id, job)), len(job)] for job in jobs]
    assert {name for name, _ in found["jobs"]} == {part.job for part in Store(tmp_path).parts()}
    settings = [arm["coordinates"] for arm in found["arms"].values()]
    assert all(settings)
    assert len({json.dumps(s) for s in settings}) == len(settings)


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one core")
def test_a_half_done_job_goes_on_with_another_number_of_cores(parity, tmp_path):
    """Begun on one core, ended on two: the same job, and the same rows but for the order of sums."""
    spec = parity(steps=8_000, evaluation={"every": 500, "samples": 256})
    cores = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {min(cores)})
        with start(tmp_path / "broken", [spec], 6, commit_seconds=0.0) as process:
            while len(list((tmp_path / "broken" / "parts").glob("[!.]*"))) < 2:
                assert process.poll() is None
            process.kill()
            process.communicate()
    finally:
        os.sched_setaffinity(0, cores)
    begun = {part.job for part in Store(tmp_path / "broken").parts()}
    for folder in ("broken", "whole"):
        with start(tmp_path / folder, [spec], 6) as process:
            _, err = process.communicate(timeout=240)
            assert process.returncode == 0, err
    assert begun == {part.job for part in Store(tmp_path / "broken").parts()}
    a, b = (load(Store(tmp_path / f), "r", "laptop", {"a": spec}, {"a": 6})["a"] for f in ("broken", "whole"))
    np.testing.assert_allclose(a.metric("test/loss"), b.metric("test/loss"), rtol=1e-2, atol=1e-4)


def test_a_job_of_small_networks_takes_256_members(parity):
    """A number of the spec alone: jobs have the same members on every machine."""
    assert registered("engine")["ensemble"].members_per_job(parity()) == 256
