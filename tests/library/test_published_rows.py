"""Published rows decide the claims that the results file has, without training."""

import base64
import hashlib
import json
import runpy
import subprocess
import sys
import tarfile
import zlib
from pathlib import Path

import pytest

import lopsided as lop
from lopsided.cli.check import FEW, document_of
from lopsided.core.errors import InputError
from lopsided.stats.verdict import Claim
from lopsided.store.members import copy_rows
from lopsided.store.parts import Store
from lopsided.study.checking import claims_of
from lopsided.study.manifest import recorded
from lopsided.study.publishing import LARGEST, packed, publish, published, unpack, unpacked
from lopsided.study.targets import find

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "results").glob("*.parquet"))
LARGE = 40_000
"""Bytes. A larger file takes a second or more; ten are smaller."""


@pytest.mark.parametrize(
    "file",
    [pytest.param(file, marks=[pytest.mark.slow] * (file.stat().st_size > LARGE), id=file.stem) for file in FILES],
)
def test_every_verdict_comes_out_again(file, tmp_path):
    store = unpack(file, tmp_path)
    found = claims_of(find(file.stem), recorded(store), store).claims
    said = [c for c in json.loads((ROOT / "docs/results.json").read_text())["claims"] if c["recipe"] == file.stem]
    assert len(found) == len(said) > 0
    for claim, known in zip(found, map(Claim.of_json, said), strict=True):
        assert (claim.claim, claim.verdict, claim.reason) == (known.claim, known.verdict, known.reason)
        assert claim.code_versions == known.code_versions  # a change of the code makes some of the rows older
        assert claim.effect == pytest.approx(known.effect, rel=1e-9)
        assert claim.interval == pytest.approx(known.interval, rel=1e-9)


def test_the_seeds_that_judged_are_loaded_from_published_rows(tmp_path):
    store = unpack(ROOT / "results/arithmetic.parquet", tmp_path)
    found = lop.load(store.root, recipe="arithmetic-laptop, looks")
    assert {name: (arm.seeds[0], len(arm.seeds)) for name, arm in found.arms.items()} == {
        "uniform": (2, 24),
        "Zipf": (2, 24),
        "annealed": (2, 8),
    }


def test_all_rows_in_one_file_are_the_same_bytes_again(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "packaging"))
    write = runpy.run_path(str(ROOT / "packaging/rows.py"))["main"]
    for name in ("one.tar", "two.tar"):
        write(tmp_path / name)
    assert (tmp_path / "one.tar").read_bytes() == (tmp_path / "two.tar").read_bytes()
    with tarfile.open(tmp_path / "one.tar") as tar:
        names = set(tar.getnames())
    assert {"lopsided-rows/README.md", "lopsided-rows/tour.parquet", "lopsided-rows/paper/tour.parquet"} <= names
    assert len(names) == 2 + len(list((ROOT / "results").rglob("*.parquet")))


def test_each_file_is_the_one_that_was_published():
    lines = (ROOT / "results/SHA256SUMS").read_text().splitlines()
    digests = {name: digest for digest, name in (line.split("  ") for line in lines)}
    files = {str(file.relative_to(ROOT / "results")): file for file in (ROOT / "results").rglob("*.parquet")}
    assert digests == {name: hashlib.sha256(file.read_bytes()).hexdigest() for name, file in files.items()}


@pytest.mark.parametrize(
    ("name", "options"),
    [("adam-deep", ["--seeds", "12", "--until-decided", "--looks", "8", "16", "32"]), ("test-law", ["--seeds", "8"])],
)
def test_a_recipe_is_reproduced_as_it_was_published(name, options):
    claims, asked = runpy.run_path(str(ROOT / "packaging/reproduce.py"))["as_published"](name)
    assert asked == options
    assert [claim.recipe for claim in claims] == [name] * len(claims)


@pytest.mark.parametrize("file", sorted((ROOT / "results/paper").glob("*.parquet")), ids=lambda file: file.stem)
def test_every_verdict_at_paper_scale_comes_out_again(file, tmp_path):
    store = unpack(file, tmp_path)
    said = [c for c in json.loads((ROOT / "docs/paper-results.json").read_text())["claims"] if c["recipe"] == file.stem]
    for claim, known in zip(claims_of(find(file.stem), recorded(store), store).claims, said, strict=True):
        assert (claim.claim, claim.verdict, claim.scale) == (known["claim"], known["verdict"], "paper")
        assert claim.effect == pytest.approx(known["effect"], rel=1e-9)


def test_other_processes_decide_what_this_one_decides(tmp_path):
    """From six recipes on, claims are decided side by side; in the order of the names, whoever is done first."""
    names = [file.stem for file in sorted(FILES, key=lambda file: file.stat().st_size)[:FEW]]
    together = document_of(names, tmp_path, ROOT / "results")
    alone = [document_of([name], tmp_path, ROOT / "results") for name in names]
    assert together["claims"] == [claim for one in alone for claim in one["claims"]]
    assert together["runs"] == {name: one["runs"][name] for name, one in zip(names, alone, strict=True)}


def test_deciding_claims_takes_no_accelerator():
    """Eight processes that each took most of its memory would fail."""
    text = (
        "from pathlib import Path; from lopsided.cli.check import _decided_again; from jax._src import xla_bridge\n"
        f"_decided_again(Path({str(ROOT / 'results')!r}), 'adam-deep', False); assert not xla_bridge._backends"
    )
    subprocess.run([sys.executable, "-c", text], check=True)


def test_what_other_processes_refuse_is_one_line(tmp_path):
    for file in FILES[:FEW]:
        (tmp_path / file.name).write_bytes(b"no Parquet")
    with pytest.raises(InputError, match="no file of published rows"):
        document_of([], tmp_path, tmp_path)


def test_all_files_together_are_small():
    assert FILES
    assert sum(file.stat().st_size for file in FILES) < 40 * 2**20


@pytest.mark.slow
def test_what_is_published_again_is_the_same(tmp_path):
    """With the metrics that claims and figure read, and no others."""
    import duckdb

    (tmp_path / "store").mkdir()
    store = unpack(ROOT / "results/one-heavy-skill.parquet", tmp_path / "store")
    again = publish(find("one-heavy-skill"), store, tmp_path / "results")
    found = [
        duckdb.sql(f"SELECT spec, seed, step, metric, value FROM read_parquet('{file}') ORDER BY ALL").fetchall()
        for file in (ROOT / "results/one-heavy-skill.parquet", again)
    ]
    assert found[0] == found[1]
    assert {row[3] for row in found[0]} == {"skills/error"}


def test_of_a_thinned_metric_the_ends_are_written(tmp_path):
    import duckdb

    (tmp_path / "store").mkdir()
    store = unpack(ROOT / "results/tour.parquet", tmp_path / "store")
    survey = store.survey()
    metric = duckdb.sql(f"SELECT min(metric) FROM read_parquet('{ROOT}/results/tour.parquet')").fetchall()[0][0]
    copy_rows(store, survey.good, survey.complete, tmp_path / "thinned.parquet", thinned={metric})
    asked = "SELECT count(*), min(step), max(step) FROM read_parquet(?) WHERE metric = ? GROUP BY spec, seed"
    whole, thin = (
        duckdb.execute(asked + " ORDER BY spec, seed", [str(file), metric]).fetchall()
        for file in (ROOT / "results/tour.parquet", tmp_path / "thinned.parquet")
    )
    assert [each[1:] for each in thin] == [each[1:] for each in whole]
    assert {each[0] for each in thin} == {2}
    assert min(each[0] for each in whole) > 2


def test_what_has_no_complete_run_is_not_published(tmp_path):
    with pytest.raises(InputError, match="no complete run"):
        publish(find("adam"), Store(tmp_path / "empty"), tmp_path / "results")
    assert not (tmp_path / "results").exists()


@pytest.mark.parametrize("text", [b"", b"no Parquet"])
def test_a_file_that_is_none_is_one_line(text, tmp_path):
    (tmp_path / "adam.parquet").write_bytes(text)
    with pytest.raises(InputError, match="no file of published rows"), published(tmp_path):
        pass
    with pytest.raises(InputError, match="no file NAME"), published(tmp_path / "elsewhere"):
        pass
    with pytest.raises(InputError, match="adam"), published(tmp_path, ["adan"]):
        pass


def altered(tmp_path, change, name="one-heavy-skill"):
    """A folder with a published file, changed by SQL or in what it says."""
    import duckdb

    folder = tmp_path / "rows"
    folder.mkdir()
    source = ROOT / "results/one-heavy-skill.parquet"
    asked = f"SELECT value FROM parquet_kv_metadata('{source}') WHERE key = 'lopsided'"
    ((said,),) = duckdb.sql(asked).fetchall()
    rows, said = change("SELECT * FROM read_parquet(?)", unpacked(said))
    duckdb.execute(
        f"COPY ({rows}) TO '{folder}/{name}.parquet' (FORMAT parquet, KV_METADATA {{lopsided: '{packed(said)}'}})",
        [str(source)],
    )
    return folder


OUTSIDE = "../../../../../../tmp/lopsided-escaped"
ALTERED = {
    "values": (lambda rows, said: (f"SELECT * REPLACE (value * 0.1 AS value) FROM ({rows})", said), "damaged"),
    "half of the rows": (lambda rows, said: (f"{rows} USING SAMPLE 50% (bernoulli, 1)", said), "damaged"),
    "no rows": (lambda rows, said: (f"{rows} LIMIT 0", said), "damaged"),
    "a column": (lambda rows, said: (f"SELECT * EXCLUDE (value) FROM ({rows})", said), "no file of published rows"),
    "runs": (lambda rows, said: (rows, {**said, "runs": []}), "not of this version"),
    "a path": (lambda rows, said: (rows, {**said, "part": {**said["part"], "job": OUTSIDE}}), "not of this version"),
}


@pytest.mark.parametrize("case", ALTERED)
def test_an_altered_file_is_one_line_and_writes_nothing_elsewhere(case, tmp_path):
    change, said = ALTERED[case]
    with pytest.raises(InputError, match=said), published(altered(tmp_path, change)):
        pass
    assert not list(Path("/tmp").glob("lopsided-escaped*"))


@pytest.mark.parametrize("text", [b"", b"{}", b"AAAA", packed({"a": 1})[:-8].encode()])
def test_a_text_that_was_not_packed_is_an_error(text):
    with pytest.raises(ValueError, match=r"not packed|cut off"):
        unpacked(text)


def test_a_text_that_would_fill_the_memory_is_not_unpacked():
    with pytest.raises(ValueError, match="too long"):
        unpacked(base64.b64encode(zlib.compress(b" " * (LARGEST + 1))))


def test_a_file_is_of_the_recipe_that_it_is_named_after(tmp_path, monkeypatch):
    folder = altered(tmp_path, lambda rows, said: (rows, said), "adam")
    with pytest.raises(InputError, match="of another recipe"), published(folder):
        pass
    (folder / "adam.parquet").rename(folder / "loop.py.parquet")
    monkeypatch.chdir(folder)
    (folder / "loop.py").write_text("raise SystemExit('executed')")
    with pytest.raises(InputError, match="recipe of a file of rows"), published(Path()):
        pass


def test_a_recipe_asked_for_twice_is_one():
    with published(ROOT / "results", ["heavy-skills", "heavy-skills"]) as stores:
        assert list(stores) == ["heavy-skills"]
