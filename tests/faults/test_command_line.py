"""The command line as a user meets it: JSON on stdout and nothing else, mistakes in one line with exit code 2."""

import contextlib
import json
import os
import shutil
import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow

ENVIRONMENT = {**os.environ, "JAX_PLATFORMS": "cpu", "COLUMNS": "120"}


def lopsided(*arguments, cwd=None):
    return subprocess.run(
        [sys.executable, "-m", "lopsided.cli", *arguments],
        capture_output=True,
        text=True,
        env=ENVIRONMENT,
        cwd=cwd,
        timeout=300,
        check=False,
    )


@pytest.fixture
def here(tmp_path, monkeypatch, capfd):
    """The command in this process, in an empty folder: (exit code, stdout, stderr)."""
    from lopsided.cli import main

    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        capfd.readouterr()
        code = 0
        try:
            main(list(arguments))
        except SystemExit as ended:
            code = ended.code or 0
        return code, *capfd.readouterr()

    return call


@pytest.fixture(scope="module")
def smoke(tmp_path_factory):
    """One smoke run that the tests below look at."""
    out = tmp_path_factory.mktemp("store")
    return out, lopsided("run", "state-tracking", "--scale", "smoke", "--out", str(out), "--json")


def test_run_json(smoke):
    out, done = smoke
    assert done.returncode == 0, done.stderr
    data = json.loads(done.stdout)
    assert {"recipe", "scale", "out", "report", "arms", "claims"} <= set(data)
    assert (data["recipe"], data["scale"], data["out"]) == ("state-tracking", "smoke", str(out))
    assert os.path.getsize(data["report"]) > 10_000
    for arm in data["arms"]:
        assert {"name", "members", "metric", "final", "time_to_learn"} <= set(arm)
        assert set(arm["final"]) == {"median", "low", "high"}
        assert {"median_compute", "censored"} <= set(arm["time_to_learn"])
    assert {c["verdict"] for c in data["claims"]} == {"not run"}
    folder = out / "reports" / "state-tracking-smoke"
    assert {p.name for p in folder.iterdir()} == {"index.html", "figure.png", "figure.pdf"}


def test_running_again_trains_nothing_and_says_the_same(smoke):
    out, first = smoke
    again = lopsided("run", "state-tracking", "--scale", "smoke", "--out", str(out), "--json")
    data, before = json.loads(again.stdout), json.loads(first.stdout)
    assert data["trained"] == 0
    assert (data["arms"], data["claims"]) == (before["arms"], before["claims"])


def test_a_change_that_changes_nothing_is_said(smoke):
    out, _ = smoke
    again = lopsided("run", "state-tracking", "--scale", "smoke", "--set", "steps=40", "--out", str(out), "--json")
    assert json.loads(again.stdout)["trained"] == 0
    assert "lopsided: --set steps=40: state-tracking-smoke has that already" in again.stderr


def test_changing_one_field_trains_only_what_changed(smoke):
    out, _ = smoke
    more = json.loads(
        lopsided("run", "state-tracking", "--scale", "smoke", "--seeds", "3", "--out", str(out), "--json").stdout
    )
    assert more["trained"] == 3  # one further seed in each of three arms
    changed = json.loads(
        lopsided(
            "run", "state-tracking", "--scale", "smoke", "--set", "optimizer.lr=0.01", "--out", str(out), "--json"
        ).stdout
    )
    assert changed["trained"] == 6


def test_list_json():
    done = lopsided("list", "--json")
    recipes = json.loads(done.stdout)["recipes"]
    assert {"state-tracking", "small-vs-large"} <= {r["name"] for r in recipes}
    for recipe in recipes:
        assert {"name", "paper", "figure", "claims", "scales"} <= set(recipe)
        assert all(isinstance(c, str) for c in recipe["claims"])
        assert recipe["scales"]["laptop"]["seconds"] > 0


def test_check_json(smoke):
    out, _ = smoke
    claims = json.loads(lopsided("check", "--out", str(out), "--json").stdout)["claims"]
    for claim in claims:
        keys = {"recipe", "claim", "paper", "effect", "interval", "verdict", "members", "scale"}
        assert keys <= set(claim)
        assert len(claim["interval"]) == 2
        assert claim["verdict"] == "not run"  # smoke runs decide nothing


def test_query(smoke):
    out, _ = smoke
    done = lopsided("query", "SELECT count(DISTINCT (spec, seed)) AS n FROM rows", "--out", str(out), "--json")
    assert json.loads(done.stdout)["rows"][0][0] >= 6
    bad = lopsided("query", "SELEC 1", "--out", str(out))
    assert (bad.returncode, bad.stdout) == (2, "")


def test_report_of_a_folder(smoke, tmp_path):
    out, _ = smoke
    page = tmp_path / "all.html"
    assert lopsided("report", str(out), "-o", str(page)).returncode == 0
    assert "state-tracking" in page.read_text()


def test_spec_file(tmp_path):
    from tests.conftest import PARITY

    (tmp_path / "mine.json").write_text(json.dumps(PARITY))
    done = lopsided("run", "mine.json", "--seeds", "2", "--out", "runs", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    data = json.loads(done.stdout)
    assert [a["members"] for a in data["arms"]] == [2]
    assert data["claims"] == []


def test_spec_file_without_samples_or_accuracy(tmp_path):
    """A real-valued target has no accuracy, an exact run no samples: tables and figure show what there is."""
    spec = {
        "task": {"name": "additive-teacher", "d": 8, "directions": 2},
        "model": {"name": "student", "width": 4},
        "plan": {"name": "population"},
        "optimizer": {"name": "sgd", "lr": 0.1},
        "loss": "square",
        "steps": 20,
        "evaluation": {"every": 5},
    }
    (tmp_path / "exact.json").write_text(json.dumps(spec))
    done = lopsided("run", "exact.json", "--seeds", "2", "--out", "runs", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (arm,) = json.loads(done.stdout)["arms"]
    assert (arm["metric"], arm["budget_compute"], arm["budget_steps"]) == ("test/loss", 0, 20)
    assert 0 < arm["final"]["median"] < 0.6
    again = lopsided("run", "exact.json", "--seeds", "2", "--out", "runs", cwd=tmp_path)
    assert "steps to learn" in again.stdout


def test_recipe_file_says_that_it_is_executed(tmp_path):
    (tmp_path / "mine.py").write_text(
        '"""mine: a recipe in a file."""\n'
        "from dataclasses import replace\n"
        "from lopsided.recipes.state_tracking import recipe as base\n"
        "recipe = replace(base, name='mine')\n"
    )
    done = lopsided("run", "mine.py", "--scale", "smoke", "--out", "runs", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "executing mine.py" in done.stderr
    assert json.loads(done.stdout)["recipe"] == "mine"
    assert "From recipe files: mine" in lopsided("check", "--out", "runs", cwd=tmp_path).stdout
    assert "power-law skills end above" in lopsided("list", "mine.py", cwd=tmp_path).stdout


MISTAKES = {
    "looks that shrink": (["run", "tour", "--until-decided", "--looks", "64", "8"], ["--looks 64 8", "32 128 512"]),
    "looks too far apart": (["run", "tour", "--until-decided", "--looks", "2", "512"], ["at most 128 times the first"]),
    "looks of an ordinary run": (["run", "tour", "--looks", "8", "16"], ["--looks", "--until-decided"]),
    "unknown recipe": (["run", "state-trackin"], ["state-tracking"]),
    "unknown command": (["rum"], ["run"]),
    "unknown option": (["run", "state-tracking", "--scal", "smoke"], ["--scal"]),
    "unknown scale": (["run", "state-tracking", "--scale", "huge"], ["huge", "laptop"]),
    "unknown key": (["run", "state-tracking", "--set", "optimizer.lrr=1"], ["lrr", "lr"]),
    "not a number": (["run", "state-tracking", "--set", "optimizer.lr=NaN"], ["optimizer", "lr", "nan"]),
    "alpha NaN": (["run", "state-tracking", "--set", 'skills={"name":"power-law","alpha":NaN}'], ["alpha", "nan"]),
    "k = 0": (["run", "small-vs-large", "--set", "task.k=0"], ["k", "0"]),
    "no group": (["run", "state-tracking", "--set", "task.group=[[0,1],[1,1]]"], ["not a group"]),
    "unknown group": (["run", "state-tracking", "--set", "task.group=S99"], ["S99", "between 2 and 7"]),
    "no value": (["run", "state-tracking", "--set", "steps"], ["steps", "key=value"]),
    "an empty folder name": (["run", "state-tracking", "--out", ""], ["--out", "is empty"]),
    "no looks": (["run", "mup", "--until-decided", "--looks", "--seeds", "2"], ["--looks", "takes numbers"]),
    "one name twice": (["run", "mup", "mup"], ["two targets are 'mup-laptop'"]),
    "no seeds": (["run", "state-tracking", "--seeds", "0"], ["seeds", "0"]),
    "seeds as text": (["run", "state-tracking", "--seeds", "many"], ["many"]),
    "what a recipe compares": (["run", "scaling-width", "--set", "model.width=32"], ["model.width", "scaling-width"]),
    "no exact loss": (
        ["run", "small-vs-large", "--set", 'plan={"name":"population"}'],
        ["sparse-parity", "additive-teacher"],
    ),
    "missing spec": (["run", "absent.json"], ["absent.json", "not found"]),
    "missing recipe file": (["run", "absent.py"], ["absent.py"]),
    "unknown recipe in check": (["check", "nothing"], ["nothing"]),
    "no store": (["report", "absent"], ["absent"]),
    "unknown recipe to list": (["list", "nonsense-xyz"], ["nonsense-xyz", "adam"]),
    "check without a store": (["check", "--out", "absent"], ["absent", "no store"]),
    "status without a store": (["status", "absent"], ["absent", "no store"]),
    "compact without a store": (["compact", "absent"], ["absent", "no store"]),
    "set without a change": (["run", "state-tracking", "--set"], ["--set", "key=value"]),
    "a power of a group": (["run", "state-tracking", "--set", "groups.²=1"], ["groups"]),
    "5,000 digits": (["run", "state-tracking", "--set", "steps=" + "9" * 5000], ["--set", "too long"]),
    "1,000 brackets": (["run", "state-tracking", "--set", "steps=" + "[" * 1000], ["--set", "nested"]),
    "an infinite coefficient": (["run", "mup-single-index", "--set", "task.link.0.0=Infinity"], ["link"]),
    "a long name": (["run", "x" * 240 + ".json"], ["x"]),
    "shards of what cannot be sharded": (
        ["run", "tour", "--scale", "smoke", "--devices-per-member", "2"],
        ["--devices-per-member", "population"],
    ),
    "a law that no sample has": (["sample", "arithmetic", "--law", "zipf:1"], ["zipf", "power-law:1.0"]),
    "a law without its number": (["sample", "arithmetic", "--law", "power-law"], ["alpha is missing"]),
    "out is a file": (["run", "state-tracking", "--scale", "smoke", "--out", "file/x"], ["file/x"]),
}


@pytest.mark.parametrize("case", MISTAKES)
def test_a_mistake_is_one_clear_line_and_exit_code_2(case, here, tmp_path):
    (tmp_path / "file").write_text("")
    arguments, names = MISTAKES[case]
    code, out, err = here(*arguments)
    assert (code, out, err.count("\n")) == (2, "", 1), err
    for name in names:
        assert name in err
    assert [p.name for p in tmp_path.iterdir()] == ["file"]  # nothing written


def test_broken_json_spec(tmp_path):
    """This one as a process of its own, exit code and all."""
    (tmp_path / "bad.json").write_text("{")
    done = lopsided("run", "bad.json", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)


CHANGED = "from dataclasses import replace\nfrom lopsided.recipes.adam import recipe as adam\n"
RAISING = {
    "raises": ("raise ValueError('[/x] and :x:')", ["mine.py", "ValueError", "[/x] and :x:"]),
    "ends the program": ("import sys; sys.exit(0)", ["mine.py", "SystemExit"]),
    "no recipe": ("x = 1", ["mine.py", "has to define `recipe`"]),
    "not Python": ("1 +", ["mine.py", "SyntaxError"]),
    "a name that leaves the folder": (
        f"{CHANGED}recipe = replace(adam, name='../../x')",
        ["../../x", "cannot name files"],
    ),
    "raises later": (
        f"{CHANGED}recipe = replace(adam, name='a', arms=lambda scale: 1 / 0)",
        ["mine.py", "line 3", "ZeroDivisionError"],
    ),
    "no specs": (f"{CHANGED}recipe = replace(adam, name='a', arms=lambda scale: [])", ["arms with a Spec each"]),
    "two arms of one name": (
        f"{CHANGED}recipe = replace(adam, name='a', arms=lambda scale: [*adam.arms(scale), *adam.arms(scale)])",
        ["two arms are", "SGD, depth = 2, small, lr = "],
    ),
    "no arms": (f"{CHANGED}recipe = replace(adam, arms=None)", ["mine.py", "arms has to be a function"]),
    "claims that are none": (f"{CHANGED}recipe = replace(adam, claims=[3])", ["claims has to be a list of Statements"]),
    "a claim that decides nothing": (
        f"{CHANGED}from lopsided.recipe import OWN, Statement\n"
        "recipe = replace(adam, arms=lambda scale: list(adam.arms(scale))[:2], metric='test/accuracy',"
        " figure=lambda r: 1 / 0, claims=[Statement('it is', OWN, 3)])",
        ["'it is'", "has to be a kind of test"],
    ),
    "no scales": (f"{CHANGED}recipe = replace(adam, scales={{}})", ["mine.py", "scales has to be (seeds, seconds)"]),
}


@pytest.mark.parametrize("case", RAISING)
def test_a_recipe_file_that_fails_is_one_line(case, here, tmp_path):
    text, names = RAISING[case]
    (tmp_path / "mine.py").write_text(text)
    code, out, err = here("run", "mine.py", "--scale", "smoke")
    executing, line = err.splitlines()
    assert (code, out) == (2, "")
    assert "executing mine.py" in executing
    for name in names:
        assert name in line
    assert [p.name for p in tmp_path.iterdir() if p.name != "__pycache__"] == ["mine.py"]


def test_a_module_that_a_recipe_file_imports_is_named(here, tmp_path):
    (tmp_path / "neighbour_of_mine.py").write_text("def arms(scale):\n    return undefined\n")
    (tmp_path / "mine.py").write_text(
        f"{CHANGED}from neighbour_of_mine import arms\nrecipe = replace(adam, name='a', arms=arms)"
    )
    code, _, err = here("run", "mine.py", "--scale", "smoke")
    assert code == 2
    assert "neighbour_of_mine.py', line 2: NameError: name 'undefined'" in err.splitlines()[-1]


def test_a_key_given_twice_is_refused(here, tmp_path):
    (tmp_path / "twice.json").write_text('{"steps": 10, "steps": 20}')
    code, _, err = here("run", "twice.json")
    assert (code, err.count("\n")) == (2, 1)
    assert "'steps' is given twice" in err


def test_a_reader_that_goes_away_is_no_error(smoke):
    """`lopsided query … --json | head -1`"""
    out, _ = smoke
    sql = "SELECT * FROM range(60000)"
    command = f"{sys.executable} -m lopsided.cli query '{sql}' --json --out '{out}' | head -c 1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, env=ENVIRONMENT, check=False)
    assert (done.stdout, done.stderr) == ("{", "")


def test_a_full_disk_behind_the_output_is_one_line(smoke):
    out, _ = smoke
    command = f"{sys.executable} -m lopsided.cli status '{out}' --json > /dev/full"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, env=ENVIRONMENT, check=False)
    assert (done.returncode, done.stderr) == (2, "lopsided: No space left on device\n")


def test_data_is_printed_as_it_is(smoke):
    """No markup, no emoji: `root:x:0` was shown as `root❌0`."""
    out, _ = smoke
    done = lopsided("query", """SELECT 'root:x:0' AS "[/x]", '[bold]' AS b""", "--out", str(out))
    assert done.returncode == 0, done.stderr
    for text in ("root:x:0", "[/x]", "[bold]"):
        assert text in done.stdout


def test_a_number_that_is_none_is_whole_json(smoke):
    out, _ = smoke
    done = lopsided("query", "SELECT 'nan'::DOUBLE AS a, 'infinity'::DOUBLE AS b", "--out", str(out), "--json")
    assert json.loads(done.stdout, parse_constant=pytest.fail)["rows"] == [[None, None]]


def test_a_store_that_may_only_be_read(smoke, tmp_path):
    """`report` writes elsewhere; `status` and `check` write nothing."""
    out, _ = smoke
    copy = tmp_path / "copy"
    shutil.copytree(out, copy)
    (copy / "index.jsonl").unlink(missing_ok=True)
    subprocess.run(["chmod", "-R", "a+rX,a-w", str(copy)], check=True)
    before = sorted(copy.rglob("*"))
    sql = "SELECT count(*) AS n FROM rows"
    for command in (
        ["status", str(copy)],
        ["check", "state-tracking", "--out", str(copy)],
        ["query", sql, "--out", str(copy)],
        ["report", str(copy), "-o", "page.html"],
    ):
        done = as_nobody(*command, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "page.html").stat().st_size > 10_000
    assert sorted(copy.rglob("*")) == before
    refused = as_nobody("report", str(copy), cwd=tmp_path)
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
    subprocess.run(["chmod", "-R", "u+w", str(copy)], check=True)


@pytest.fixture
def full_disk(tmp_path):
    """A file system of 200 KB: room for a report's figure, not for its page."""
    folder = tmp_path / "full"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=200k", "tmpfs", folder], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("this machine does not let us mount a file system")
    yield folder
    subprocess.run(["umount", folder], check=True)


def test_a_disk_that_fills_while_the_report_is_written_is_one_line(smoke, full_disk):
    out, _ = smoke
    done = lopsided("report", str(out), "-o", str(full_disk / "page.html"))
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    for words in ("page.html", "No space left", "rows are safe"):
        assert words in done.stderr
    assert not [p.name for p in full_disk.rglob("*") if "page.html" in p.name]


def as_nobody(*arguments, cwd):
    """The command without root's right to write anywhere."""
    drop = ["setpriv", "--reuid=65534", "--clear-groups"] if os.getuid() == 0 else []
    cwd.chmod(0o777)
    for folder in [cwd, *cwd.parents]:
        with contextlib.suppress(PermissionError):
            folder.chmod(folder.stat().st_mode | 0o055)
    return subprocess.run(
        [*drop, sys.executable, "-m", "lopsided.cli", *arguments],
        capture_output=True, text=True, cwd=cwd, timeout=300, check=False,
        env=ENVIRONMENT | {"HOME": str(cwd), "PYTHONDONTWRITEBYTECODE": "1"},
    )  # fmt: skip


def test_a_version_is_said_however_it_is_started():
    from importlib import metadata

    assert lopsided("--version").stdout.strip() == metadata.version("lopsided")
