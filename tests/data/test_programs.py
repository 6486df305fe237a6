"""Every program of "Shape your own data" runs as printed."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs/your-data.md").read_text()
PROGRAMS = dict(re.findall(r"```python\n# PROGRAM: (\S+)\n(.*?)```", PAGE, re.S))
NEEDS = {"pytorch": "torch", "trainer": "transformers"}


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_runs(name, tmp_path):
    if name != "shape":
        pytest.importorskip(NEEDS.get(name, name))
    (tmp_path / "program.py").write_text(PROGRAMS[name])
    done = subprocess.run(
        [sys.executable, "program.py"], cwd=tmp_path, capture_output=True, text=True, timeout=250, check=False,
        env={**os.environ, "CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]


def test_there_are_seven():
    assert set(PROGRAMS) == {"shape", "pytorch", "trainer", "accelerate", "lightning", "datasets", "grain"}
