"""The committed notebooks still run: their code cells, at sizes that take seconds, in one namespace."""

import json
import re
from pathlib import Path

import matplotlib
import pytest

pytestmark = pytest.mark.slow

DOCS = Path(__file__).parents[2] / "docs"
SMALLER = {
    "can-it-do-arithmetic": ("N, OPS, WIDTH, STEPS, SEEDS", "4, 1, 8, 30, 2"),
    "letting-the-tail-go": ("D, K, MEMBERS, GROUP, HOPS, WIDTH, STEPS, SEEDS", '6, 2, 2, "S3", 2, 8, 30, 2'),
    "many-sharp-steps": ("D, P, M, STEPS, SEEDS", "24, 6, 12, 600, 2"),
    "why-a-long-tail": ("D, K, SIZES, MEMBERS, HOPS, WIDTH, STEPS, SEEDS", "6, 4, (4, 6), 2, 2, 8, 30, 1"),
    "why-fewer-samples": ("D, K, SMALL, WIDTH, STEPS, SEEDS, NEURONS", "6, 2, 2**4, 8, 80, 2, 4"),
}
"""For each notebook: the names that its first code cell sets in one line, and smaller numbers for them."""


def _cells(path: Path) -> list[dict]:
    return [cell for cell in json.loads(path.read_text())["cells"] if cell["cell_type"] == "code"]


@pytest.mark.parametrize("path", sorted(DOCS.glob("*.ipynb")), ids=lambda p: p.stem)
def test_notebook_runs(path, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    matplotlib.use("Agg")
    names, values = SMALLER[path.stem]
    sources = ["".join(cell["source"]) for cell in _cells(path)]
    sources[0], replaced = re.subn(rf"(?m)^{names} = .*$", f"{names} = {values}", sources[0])
    assert replaced == 1
    namespace: dict = {}
    for source in sources:
        exec(compile(source, path.name, "exec"), namespace)
    import matplotlib.pyplot as plt

    plt.close("all")


@pytest.mark.parametrize("path", sorted(DOCS.glob("*.ipynb")), ids=lambda p: p.stem)
def test_notebook_is_committed_with_its_outputs(path):
    cells = _cells(path)
    assert all(cell["execution_count"] for cell in cells)
    assert not [o for cell in cells for o in cell["outputs"] if o["output_type"] == "error"]
    assert any("image/png" in o.get("data", {}) for cell in cells for o in cell["outputs"])
