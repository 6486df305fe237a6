"""The structure that the design asks for, as tests."""

import ast
import inspect
import json
import re
import shlex
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

from lopsided.core import registry
from lopsided.core.code import COMPUTES
from lopsided.study import catalog

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "src").rglob("*.py"))


def run(*command):
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)


def test_who_may_import_whom():
    done = run(str(Path(sys.executable).parent / "lint-imports"))
    assert done.returncode == 0, done.stdout


def test_ruff():
    ruff = str(Path(sys.executable).parent / "ruff")
    for arguments in (["check", "."], ["format", "--check", "."]):
        done = run(ruff, *arguments)
        assert done.returncode == 0, done.stdout


def test_the_command_line_starts_without_heavy_imports():
    code = "import sys, lopsided.cli; print(sorted({'jax','scipy','matplotlib','plotly','duckdb'} & set(sys.modules)))"
    assert run(sys.executable, "-c", code).stdout.strip() == "[]"


def test_the_catalog_is_of_the_recipes_as_they_are():
    stored, told = json.loads(catalog.FILE.read_text(encoding="utf-8")), "a recipe was changed: run `make catalog`"
    assert stored["sources"] == catalog.sources(), told
    assert stored["recipes"] == catalog.described(), told


@pytest.mark.parametrize("command", ["list", "status STORE", "query 'SELECT 1' --out STORE"])
def test_commands_that_compute_nothing_start_without_jax_and_scipy(command, tmp_path):
    (tmp_path / "parts").mkdir()
    arguments = shlex.split(command.replace("STORE", str(tmp_path)))
    code = (
        "import atexit, sys, lopsided.cli as c; atexit.register(lambda: print({'jax', 'scipy'} & set(sys.modules)));"
        f"c.main({arguments!r})"
    )
    assert run(sys.executable, "-c", code).stdout.splitlines()[-1] == "set()"


def test_stats_and_reports_read_without_training_code():
    code = "import sys, lopsided.stats.verdict, lopsided.theory.k_composition; print('jax' in sys.modules)"
    assert run(sys.executable, "-c", code).stdout.strip() == "False"


def test_flags_are_frozen():
    """Few flags: a setting belongs in a spec. Think before changing this list."""
    from lopsided.cli import app

    flags = {}
    commands = ("list", "run", "sample", "cost", "advise", "explore", "worker", "report", "check", "query", "status")
    for name in (*commands, "paper", "export", "skills", "compact", "compare", "forecast", "new", "doctor"):
        collected = app[name].assemble_argument_collection()
        flags[name] = sorted(n for a in collected for n in a.names if n.startswith("-"))
    assert flags == {
        "list": ["--json"],
        "run": [
            *(
                "--across-hosts",
                "--all",
                "--devices-per-member",
                "--for",
                "--json",
                "--looks",
                "--neighbours",
                "--on",
                "--on-set",
                "--out",
                "--scale",
                "--seeds",
                "--set",
            ),
            *("--until-decided", "--workers"),
        ],
        "sample": [
            *("--export", "--json", "--law", "--rank-order", "--seed", "--set", "--split", "--tokens", "-n"),
        ],
        "cost": ["--devices", "--json", "--on", "--scale", "--seeds", "--set", "--utilisation"],
        "advise": [
            "--budget",
            "--json",
            "--out",
            "--rates",
            "--samples",
            "--skill",
            "--target",
            "--text",
            "--traceback",
            "--train",
        ],
        "skills": [
            *("--by", "--embeddings", "--json", "--output", "--seed", "--skills", "--text", "-k", "-o"),
        ],
        "forecast": [
            "--arm-from",
            "--at",
            "--axis",
            "--direction",
            "--json",
            "--metric",
            "--pattern",
            "--run",
            "--seconds",
            "--seed-from",
            "--step",
        ],
        "explore": ["--arm-from", "--out", "--pattern", "--port", "--seed-from", "--task-from"],
        "worker": ["--idle", "--out", "--stop"],
        "report": ["--out", "--output", "-o"],
        "check": ["--json", "--out", "--rows"],
        "paper": ["--claims", "--figures", "--out", "--output", "--pdf", "--rows", "-o"],
        "export": ["--claims", "--out", "--rows"],
        "query": ["--json", "--out"],
        "status": ["--json", "--out", "--times"],
        "compact": ["--json", "--out"],
        "compare": [
            *(
                "--arm-from",
                "--at",
                "--axis",
                "--baseline",
                "--between",
                "--direction",
                "--ends",
                "--json",
                "--looks",
                "--metric",
                "--output",
                "--pattern",
                "--plan",
                "--rank",
                "--run",
                "--seconds",
                "--seed-from",
                "--step",
                "--sweep",
                "--target",
                "--task-from",
                "-o",
            )
        ],
        "new": ["--from"],
        "doctor": [],
    }


@pytest.mark.parametrize("kind", registry.KINDS)
def test_everything_registered_is_documented(kind):
    for name, cls in registry.registered(kind).items():
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name)
        assert inspect.getdoc(cls) or sys.modules[cls.__module__].__doc__


def test_an_import_error_in_a_part_is_an_error(monkeypatch, tmp_path):
    package = tmp_path / "broken_parts"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "bad.py").write_text("import module_that_does_not_exist")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setitem(registry.KINDS, "broken", ("broken_parts", "Task"))
    with pytest.raises(ModuleNotFoundError):
        registry.registered("broken")


def test_files_stay_small_and_there_is_no_utils():
    for file in SOURCES:
        assert "util" not in file.stem
        assert len(file.read_text().splitlines()) <= 300, file


def test_no_pickle():
    for file in SOURCES:
        assert not re.search(r"\bpickle\b", file.read_text()), file


def test_json_from_outside_is_read_in_one_place():
    """Thousands of brackets end Python's own reader in a `RecursionError`, which no caller expects; the others
    read files of this package, or a text that this process has just written."""
    own = {"core/json_text.py", "text/cutting.py", "price/paper_costs.py", "export/export.py", "study/catalog.py",
           "study/manifest.py"}  # fmt: skip
    found = {file for file in SOURCES if "json.load" in file.read_text()}
    assert {"/".join(file.parts[-2:]) for file in found} == own


def test_matrices_are_decomposed_in_one_place():
    """Batches of them can wait for ever on two CPU devices; `numerics.linalg` takes one at a time."""
    for file in SOURCES:
        found = re.search(
            r"\b(jnp|jsp|lax|jax\.(numpy|scipy))\.linalg\b(?!\.norm\b)|from jax\S* import .*\blinalg\b",
            file.read_text(),
        )
        assert not found or file.name == "linalg.py", (file, found)


def test_no_global_random_generators_and_no_seed_arithmetic():
    for file in SOURCES:
        text = file.read_text()
        assert not re.search(r"np\.random\.(seed|rand|randn|randint|normal|uniform)\b", text), file
        assert not re.search(r"seed\s*\+\s*\d", text), file


def test_the_digest_of_the_code_covers_every_package_that_parts_import():
    code = (
        "import sys; from lopsided.core.registry import registered; "
        "[registered(k) for k in ('task', 'model', 'plan', 'probe', 'optimizer', 'skills')]; "
        "import lopsided.tasks, lopsided.models, lopsided.plans, lopsided.probes, lopsided.engines; "
        "print(*{m.split('.')[1] for m in sys.modules if m.startswith('lopsided.')})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) <= set(COMPUTES)


PRONOUNS = re.compile(r"(Of|It|Its|Itself|Those|Both|Nothing|They|Them|Their|Such|Who|The same|As JSON|As many)\b")


def test_docstrings_begin_with_a_verb_or_a_noun():
    """A pronoun has nothing to stand for there: "It", "Of one member", "The same of some parts"."""
    found = []
    for file in SOURCES:
        for node in ast.walk(ast.parse(file.read_text())):
            for each in getattr(node, "body", []) if not isinstance(node, ast.Lambda | ast.IfExp) else []:
                text = each.value.value if isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant) else None
                if isinstance(text, str) and PRONOUNS.match(text):
                    found.append(f"{file.name}:{each.lineno}: {text[:60]}")
    assert found == []


WORDS = ("plans", "skills", "models", "shape", "data")
"""Rooms whose classes are the words of specs and of shapes: one word has a class for training and one for data."""
TWICE = {
    "Pieces": "of texts and of batches, whose names are in the digest of published rows",
    "Results": "what `lopsided.run` returns is what a recipe reads, with doors for people",
}


def test_one_name_is_one_class():
    """A second class of a name, in another room, is another thing for a reader who searches for it."""
    files = defaultdict(list)
    for file in SOURCES:
        for node in ast.parse(file.read_text()).body if file.parent.name not in WORDS else []:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                files[node.name].append(file)
    assert {name for name, found in files.items() if len(found) > 1} == set(TWICE)
