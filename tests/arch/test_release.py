"""The wheel, and a package of somebody else's, installed as a user would."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
ENVIRONMENT = {**os.environ, "JAX_PLATFORMS": "cpu", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
PIP = [sys.executable, "-m", "pip", "--quiet"]


def run(*command, cwd, **environment):
    done = subprocess.run(
        command, cwd=cwd, capture_output=True, text=True, timeout=300, check=False, env={**ENVIRONMENT, **environment}
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Built from a copy, so that nothing is left in the checkout."""
    source = tmp_path_factory.mktemp("source")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    shutil.copytree(ROOT / "src", source / "src", ignore=shutil.ignore_patterns("*.egg-info", "__pycache__"))
    run(*PIP, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", "dist", ".", cwd=source)
    (found,) = (source / "dist").glob("*.whl")
    return found


def test_the_wheel_runs_the_tour_in_an_environment_of_its_own(wheel, tmp_path):
    """The environment sees this one's libraries (downloading them takes minutes), but not this checkout."""
    venv = tmp_path / "venv"
    run(sys.executable, "-m", "venv", "--without-pip", venv, cwd=tmp_path)
    python = venv / "bin" / "python"
    site = run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=tmp_path).stdout.strip()
    run(*PIP, "install", "--no-deps", "--target", site, wheel, cwd=tmp_path)
    (Path(site) / "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n")
    where = run(python, "-c", "import lopsided; print(lopsided.__file__)", cwd=tmp_path).stdout
    assert str(venv) in where
    tour = run(python, "-m", "lopsided.cli", "run", "tour", "--scale", "smoke", "--json", cwd=tmp_path)
    assert json.loads(tour.stdout)["trained"] == 14
    listed = run(python, "-m", "lopsided.cli", "list", cwd=tmp_path)
    assert "state-tracking" in listed.stdout


CORE = """
import sys
import numpy as np
import lopsided as lop, lopsided.data as ld
stream = ld.Stream(ld.Groups(np.arange(100) % 7), ld.Anneal(1.5, 0), total=1000)
assert stream.at(np.arange(10)).shape == (10,)
curve = np.linspace(0, 1, 11)[None] + np.zeros((8, 1))
assert lop.compare(curve, np.sqrt(curve)).faster(at=0.7).verdict == "holds"
assert not {"jax", "pydantic"} & set(sys.modules)
try:
    lop.Spec
except ImportError as error:
    assert "pip install 'lopsided[lab]" in str(error)
else:
    raise AssertionError("the laboratory is here")
"""


def test_the_core_works_with_numpy_and_scipy_alone(wheel, tmp_path):
    """`pip install lopsided` brings nothing else: shapes for anybody's loop, and verdicts on anybody's curves."""
    site, libraries = tmp_path / "site", Path(sysconfig.get_path("purelib"))
    run(*PIP, "install", "--no-deps", "--target", str(site), str(wheel), cwd=tmp_path)
    for name in ("numpy", "scipy"):
        for found in (libraries / name, libraries / f"{name}.libs"):
            if found.exists():
                (site / found.name).symlink_to(found)
    python = [sys.executable, "-S", "-c"]  # without this environment's libraries
    run(*python, CORE, cwd=tmp_path, PYTHONPATH=str(site))
    said = subprocess.run(
        [*python, "from lopsided.start import main; main()"],
        capture_output=True, text=True, cwd=tmp_path, env={**ENVIRONMENT, "PYTHONPATH": str(site)}, check=False,
    )  # fmt: skip
    assert (said.returncode, said.stdout, said.stderr.count("\n")) == (2, "", 1)
    assert "pip install 'lopsided[lab]" in said.stderr
    required = [line for line in (next(site.glob("lopsided-*.dist-info")) / "METADATA").read_text().splitlines()
                if line.startswith("Requires-Dist") and "extra ==" not in line]  # fmt: skip
    assert sorted(line.split()[1].split(">")[0] for line in required) == ["numpy", "scipy"]


PYPROJECT = """
[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"
[project]
name = "somebodys-tasks"
version = "1.0"
[project.entry-points."lopsided.tasks"]
double = "somebodys_tasks:Double"
[project.entry-points."lopsided.models"]
gone = "somebodys_tasks:NothingOfThatName"
[project.entry-points."lopsided.recipes"]
doubles = "somebodys_tasks:recipe"
[tool.setuptools]
py-modules = ["somebodys_tasks"]
"""
MODULE = '''
"""doubles: can a perceptron double a number?"""
from typing import Literal
from lopsided.part import RealInputs, Sample, Scalar, Task, Vector, normal, words
from lopsided.recipe import Figure, Recipe, Spec, OWN, Below, Final, Statement, arm, curves

class Double(Task):
    """y = 2 x."""
    name: Literal["double"] = "double"
    inputs = property(lambda self: Vector(1))
    outputs = property(lambda self: Scalar(signs=False))
    def sample(self, key, index, context):
        x = normal(words(key, index, 1))
        return Sample(x, 2 * x[0])
    def oracle(self, inputs, latent):
        return 2 * inputs[0]
    def example(self):
        return "1.5 -> 3"

def arms(scale):
    for width in (2, 4):
        yield arm(Spec.parse({
            "task": {"name": "double"}, "model": {"name": "mlp", "width": width},
            "plan": {"name": "online", "batch": 8}, "optimizer": {"name": "sgd", "lr": 0.05},
            "loss": "square", "steps": 20, "evaluation": {"every": 10},
        }), width=width)

recipe = Recipe(
    name="doubles", paper="none", figure_number="none", question="Can it double?", about=__doc__, metric="test/loss",
    scales={"smoke": (2, 5), "laptop": (4, 5)}, arms=arms,
    claims=[Statement("the loss is small", OWN, Below(Final({"width": 4}, "test/loss"), 1.0, "loss"))],
    figure=lambda r: Figure("Doubling", [curves(r, "test/loss", "steps", "loss")]),
)
'''


def test_an_installed_package_adds_tasks_and_recipes(tmp_path):
    """By entry points alone. One that cannot be loaded is named, and stops nothing."""
    package, site = tmp_path / "package", tmp_path / "site"
    package.mkdir()
    (package / "pyproject.toml").write_text(PYPROJECT)
    (package / "somebodys_tasks.py").write_text(MODULE)
    run(*PIP, "install", "--no-deps", "--no-build-isolation", "--target", str(site), str(package), cwd=tmp_path)
    lopsided = [sys.executable, "-m", "lopsided.cli"]
    done = run(*lopsided, "run", "doubles", "--json", cwd=tmp_path, PYTHONPATH=str(site))
    (claim,) = json.loads(done.stdout)["claims"]
    assert claim["recipe"] == "doubles"
    assert claim["verdict"] in ("holds", "contradicted", "negligible", "inconclusive")
    assert "somebodys_tasks:NothingOfThatName: left out" in done.stderr
    assert "doubles" in run(*lopsided, "check", "doubles", cwd=tmp_path, PYTHONPATH=str(site)).stdout
    check = "import lopsided as lop; from lopsided.core.registry import lookup; lop.check(lookup('task', 'double')())"
    run(sys.executable, "-c", check, cwd=tmp_path, PYTHONPATH=str(site))
