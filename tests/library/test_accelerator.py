"""The script for the day that an accelerator is there, with the CPU standing in."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.slow


def accelerator(folder):
    command = [sys.executable, "-m", "benchmarks.accelerator", str(folder), "--quick", "--minutes", "4"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=290, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def test_it_passes_here_and_does_nothing_twice(tmp_path):
    accelerator(tmp_path)
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["equal"]["equal"]
    assert [row["members"] for row in report["speed"]["transformer"]] == [1, 4]
    assert report["recipes"] == {"state-tracking": "ended"}
    assert any("python" in line for line in report["doctor"])
    said = accelerator(tmp_path)
    assert "speed" not in said.split("recipes")[0]  # kept from before
    assert json.loads((tmp_path / "report.json").read_text()) == report
