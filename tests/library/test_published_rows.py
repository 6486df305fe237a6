"""Published rows decide the claims that the results file has, without training."""

import json
from pathlib import Path

import pytest

from lopsided.core.errors import InputError
from lopsided.stats.verdict import Claim
from lopsided.store.parts import Store
from lopsided.study.checking import claims_of
from lopsided.study.manifest import recorded
from lopsided.study.publishing import publish, published, unpack
from lopsided.study.targets import find

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "results").glob("*.parquet"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_verdict_comes_out_again(file, tmp_path):
    store = unpack(file, tmp_path)
    found = claims_of(find(file.stem), recorded(store), store).claims
    said = [c for c in json.loads((ROOT / "docs/results.json").read_text())["claims"] if c["recipe"] == file.stem]
    assert len(found) == len(said) > 0
    for claim, known in zip(found, map(Claim.of_json, said), strict=True):
        assert (claim.claim, claim.verdict, claim.reason) == (known.claim, known.verdict, known.reason)
        assert claim.effect == pytest.approx(known.effect, rel=1e-9)
        assert claim.interval == pytest.approx(known.interval, rel=1e-9)


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
