"""Altered or truncated files are named, set aside and computed anew, never read as data."""

import os
import shutil
import subprocess
import sys
import threading

import pytest

from lopsided.core.errors import Stopped
from lopsided.core.execution import Execution
from lopsided.store.parts import Store
from lopsided.work.worker import run
from tests.faults.helpers import ROOT, rows

pytestmark = pytest.mark.slow


@pytest.fixture
def spec(parity):
    return parity(steps=400, evaluation={"every": 10, "samples": 64})


def in_parts(spec, folder, until=400):
    """Train with a commit after every slice; stop after `until` steps."""
    stop = threading.Event()

    def watch(progress):
        if progress.step >= until and until < 400:
            stop.set()

    if until < 400:
        with pytest.raises(Stopped):
            run([spec], 2, Store(folder), watch, execution=Execution(commit_seconds=0.0), stop=stop)
    else:
        run([spec], 2, Store(folder), execution=Execution(commit_seconds=0.0))


def cut(file):
    file.write_bytes(file.read_bytes()[:-20])


def flip(file):
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 0xFF
    file.write_bytes(bytes(data))


@pytest.mark.parametrize("harm", [cut, flip, lambda f: f.unlink()], ids=["truncated", "altered", "missing"])
@pytest.mark.parametrize("name", ["rows.parquet", "part.json"])
@pytest.mark.parametrize("which", [0, 2, -1])
def test_damaged_part(spec, tmp_path, capsys, harm, name, which):
    in_parts(spec, tmp_path)
    expected = rows(tmp_path)
    folder = sorted((tmp_path / "parts").iterdir())[which]
    harm(folder / name)
    store = Store(tmp_path)
    assert store.complete() == {}
    assert rows(tmp_path) == []
    done = run([spec], 2, store)
    assert done.trained == 2
    assert folder.name in capsys.readouterr().err
    assert rows(tmp_path) == expected
    assert any((tmp_path / "damaged").iterdir())


@pytest.mark.parametrize("both", [False, True])
def test_damaged_checkpoint(spec, tmp_path, capsys, both):
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    in_parts(spec, whole)
    in_parts(spec, broken, until=200)
    states = sorted((broken / "parts").glob("*/state"))
    assert len(states) == 2
    for state in states if both else states[1:]:
        flip(max((p for p in state.rglob("*") if p.is_file()), key=lambda p: p.stat().st_size))
    run([spec], 2, Store(broken))
    assert "checkpoint is damaged" in capsys.readouterr().err
    assert rows(broken) == rows(whole)


def test_a_missing_part_breaks_the_chain(spec, tmp_path):
    in_parts(spec, tmp_path)
    expected = rows(tmp_path)
    shutil.rmtree(sorted((tmp_path / "parts").iterdir())[1])
    assert Store(tmp_path).complete() == {}
    run([spec], 2, Store(tmp_path))
    assert rows(tmp_path) == expected


def test_a_disk_that_fills_up_is_one_line_and_keeps_what_was_committed(spec, tmp_path):
    """A limit on file size stands in for a full disk: the write fails in the same place."""
    in_parts(spec, tmp_path, until=100)
    before = sorted(p.name for p in (tmp_path / "parts").iterdir())
    (tmp_path / "spec.json").write_text(spec.canonical_json())
    limit = "resource.setrlimit(resource.RLIMIT_FSIZE, (1500, 1500))"
    code = f"import resource, sys; {limit}; from lopsided.cli import main; main(sys.argv[1:])"
    done = subprocess.run(
        [sys.executable, "-c", code, "run", str(tmp_path / "spec.json"), "--seeds", "2", "--out", str(tmp_path)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=300,
        check=False,
        env={**os.environ, "LOPSIDED_CACHE": str(tmp_path / "cache")},
    )
    assert done.returncode == 2, done.stderr
    last = done.stderr.strip().splitlines()[-1]
    assert "cannot be written" in last
    assert "intact" in last
    assert "Traceback" not in done.stderr
    assert sorted(p.name for p in (tmp_path / "parts").iterdir()) == before
    run([spec], 2, Store(tmp_path))
    whole = tmp_path / "whole"
    in_parts(spec, whole)
    assert rows(tmp_path) == rows(whole)
