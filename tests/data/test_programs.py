"""Every program of the pages on one's own data runs as printed."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "packaging"))

from example_pages import CLAIMS, NAMES, report  # noqa: E402

pytestmark = pytest.mark.slow

PAGE = "".join((ROOT / f"docs/{name}.md").read_text() for name in ("your-data", "frameworks", "streaming", "skills"))
PROGRAMS = dict(re.findall(r"```python\n# PROGRAM: (\S+)\n(.*?)```", PAGE, re.S))
NEEDS = {"pytorch": "torch", "trainer": "transformers", "skills": "sklearn", "packing": "numpy", "feed": "torchdata"}


def test_the_page_has_programs():
    """Else none of the tests below would run."""
    assert len(PROGRAMS) >= 8


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_runs(name, tmp_path):
    if name not in ("shape", "plans"):
        pytest.importorskip(NEEDS.get(name, name))
    (tmp_path / "program.py").write_text(PROGRAMS[name])
    done = subprocess.run(
        [sys.executable, "program.py"], cwd=tmp_path, capture_output=True, text=True, timeout=250, check=False,
        env={**os.environ, "CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]


@pytest.mark.parametrize("example", NAMES)
def test_the_page_of_an_example_is_what_its_report_prints(example):
    """No number is typed by hand: page and claims are written from the stored runs (packaging/example_pages.py)."""
    page = example.replace("_", "-")
    text, claims = report(example)
    assert (ROOT / f"docs/{page}.md").read_text() == text
    assert [each for each in json.loads(CLAIMS.read_text()) if each["recipe"] == page] == claims
