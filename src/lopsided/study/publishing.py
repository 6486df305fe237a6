"""Rows that a recipe's claims and figure read, in one Parquet file; whoever has it decides the claims again.

`python -m lopsided.study.publishing FOLDER results NAME ...` writes results/NAME.parquet, and `lopsided check --rows
results` reads it.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import shutil
import sys
import tempfile
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from lopsided.claims.recipe import Recipe
from lopsided.core.errors import InputError, MissingData, unknown
from lopsided.core.json_text import parsed
from lopsided.core.registry import registered
from lopsided.store.compact import merged
from lopsided.store.files import canonical, replace_text
from lopsided.store.index import FOLDER
from lopsided.store.members import copy_rows, quoted
from lopsided.store.parts import Store, StoredPart
from lopsided.store.rows import cursor
from lopsided.study.checking import claims_of, found_in
from lopsided.study.looks import JUDGED
from lopsided.study.manifest import recorded
from lopsided.study.neighbours import recorded as recorded_neighbours
from lopsided.study.recipe_run import RecipeRun
from lopsided.study.remembered import latest

LICENCE = "CC-BY-4.0"
KEY = "lopsided"
"""Key in the Parquet metadata of what is not a row: specs, seeds, provenance, manifest of the run."""
PACKED = (
    "COMPRESSION zstd, COMPRESSION_LEVEL 15, PARQUET_VERSION V2, ROW_GROUP_SIZE 1000000, DICTIONARY_SIZE_LIMIT 1000"
)
"""How the file is packed. With the encodings of Parquet's second version, few groups of rows and small dictionaries
all published rows take 30 MB; with DuckDB's own choices 40 MB. (pyarrow 26 reads both.)"""
LARGE = 4 * 2**20
"""Bytes of a file in which metrics are thinned, too: `emergence` kept 60 members' matrices at 252 evaluations (43 MB)
for a figure that draws two of them. Every other file is smaller."""
LARGEST = 64 * 2**20
"""Bytes of JSON that a file may say; the most of ours is 4 MB. What says more was made to fill a memory."""


def publish(recipe: Recipe, store: Store, folder: Path) -> Path:
    """Write the rows of the run that decides a recipe's claims. Raises `InputError` if the folder has none.

    A metric is left out if without it claims and figure come out the same, which is tried for each. In a large file,
    a metric is thinned to the first and last evaluation if that changes nothing, either.
    """
    found = claims_of(recipe, recorded(store), store)
    if found.run is None:
        raise InputError(f"recipe {recipe.name!r}: no complete run in {str(store.root)!r}")
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as aside:
        file, told = Path(aside) / "published.parquet", _told(recipe, store)
        write = partial(_written, found.run, store, file=file)
        every = _metrics(found.run, store)
        spare = _harmless(every, lambda out: out < every and _says(recipe, write(every - out)) == told)
        kept = every - spare
        if write(kept).stat().st_size > LARGE:
            write(kept, thinned=_harmless(kept, lambda thinned: _says(recipe, write(kept, thinned=thinned)) == told))
        return Path(shutil.copyfile(file, folder / f"{recipe.name}.parquet"))


def _harmless(metrics: frozenset[str], same: Callable[[frozenset[str]], bool]) -> frozenset[str]:
    """The metrics that can be spared, tried one after another in the order of their names: all that are found so far
    and the next one, as long as what is said stays the `same`."""
    found: frozenset[str] = frozenset()
    for metric in sorted(metrics):
        more = found | {metric}
        if same(more):
            found = more
    return found


def published_files(folder: Path, names: Collection[str] = ()) -> dict[str, Path]:
    """Paths of the Parquet files of published rows in a folder, by the name of the recipe: of the recipes `names`, or
    of all that have a file. Raises `InputError` for a name without a file, a file that is of no recipe, and a folder
    without files."""
    there = {file.stem: file for file in sorted(folder.glob("*.parquet"))}
    if strange := [name for name in there if name not in registered("recipe")]:
        raise unknown("recipe of a file of rows", strange[0], registered("recipe"))
    if missing := [name for name in names if name not in there]:
        raise unknown("published recipe", missing[0], there)
    if not there:
        raise InputError(f"rows = {str(folder)!r}: no file NAME.parquet")
    return {name: there[name] for name in names or there}


@contextmanager
def published(folder: Path, names: Collection[str] = ()) -> Iterator[dict[str, Store]]:
    """Context in which each Parquet file of published rows in a folder is a store that can be read like any other, by
    the name of the recipe; at its end the stores are deleted. Raises `InputError` as `published_files` does, and for a
    file whose rows are of another recipe or damaged."""
    files = published_files(folder, names)
    _require_as_listed(folder, files.values())
    with tempfile.TemporaryDirectory() as aside:
        stores = {name: unpack(file, Path(aside) / name) for name, file in files.items()}
        for name, store in stores.items():
            if not any(manifest.recipe == name for manifest in recorded(store)):
                raise InputError(f"rows '{name}.parquet': of another recipe")
        yield stores


def _require_as_listed(folder: Path, files: Iterable[Path]) -> None:
    """Raise `InputError` for a file that is not the one of which SHA256SUMS, if the folder or the one around it has
    such a list, says the digest. (The digest inside a file is of members, steps and numbers alone.)"""
    listed = next((file for each in (folder, folder.parent) if (file := each / "SHA256SUMS").is_file()), None)
    if listed is None:
        return
    lines = listed.read_text(errors="replace").splitlines()
    digests = {name: digest for digest, _, name in (line.partition("  ") for line in lines)}
    for file in files:
        if digests.get(file.relative_to(listed.parent).as_posix(), "") not in (
            "",
            hashlib.sha256(file.read_bytes()).hexdigest(),
        ):
            raise InputError(f"rows {str(file)!r}: not the file that {str(listed)!r} lists")


def unpack(file: Path, root: Path) -> Store:
    """A store with the rows of a file. Raises `InputError` for a file that `publish` did not write."""
    said = _metadata(file)
    store = Store(root)
    store.require_writable()
    try:
        part = StoredPart(**{**said["part"], "members": tuple((spec, seed) for spec, seed in said["part"]["members"])})
        if not FOLDER.fullmatch(part.folder):
            raise ValueError(part.folder)
        for kind in ("runs", "plans"):
            (root / kind).mkdir(exist_ok=True)
            for name, text in said[kind].items():
                replace_text(root / kind / Path(name).name, text)
    except (AttributeError, KeyError, TypeError, ValueError):
        raise InputError(f"rows {str(file)!r}: not of this version") from None
    if said.get("rows") != _digest(file):
        raise InputError(f"rows {str(file)!r}: damaged, or changed since they were published")

    def copied(path: Path) -> None:
        shutil.copyfile(file, path)

    store.commit(part, copied)
    return store.as_of_now()


def _written(run: RecipeRun, store: Store, metrics: Collection[str], file: Path, thinned: Collection[str] = ()) -> Path:
    """The file with some metrics, some of them `thinned` to two evaluations."""
    survey = store.survey()
    around = recorded_neighbours(run, store)
    specs = {spec.content_hash() for each in (run, *around) for spec in each.grown(store)[0].arms.values()}
    members = {member: job for member, job in survey.complete.items() if member[0] in specs}
    jobs = set(members.values())
    parts = [part for part in survey.good if part.job in jobs]
    said: dict[str, Any] = {"part": merged(store, parts, members, "0")._asdict()}
    for kind, endings in (("runs", (".json",)), ("plans", (".json", JUDGED))):
        files = [store.root / kind / f"{each.label}{end}" for each in (run, *around) for end in endings]
        said[kind] = {each.name: each.read_text() for each in files if each.is_file()}
    bare = file.with_name("bare.parquet")
    copy_rows(store, parts, members, bare, metrics, thinned=thinned)
    told = quoted(packed({**said, "rows": _digest(bare)}))
    copy_rows(
        store,
        parts,
        members,
        file,
        metrics,
        f"{PACKED}, KV_METADATA {{licence: {quoted(LICENCE)}, {KEY}: {told}}}",
        thinned,
    )
    return file


def packed(said: Any) -> str:
    """A text of the value's JSON, compressed: 15 times shorter. Parquet compresses rows but not the metadata of a file,
    in which lists of seeds and hashes took two fifths of all published bytes."""
    return base64.b64encode(zlib.compress(canonical(said).encode(), 9)).decode()


def unpacked(text: bytes) -> Any:
    """The value that `packed` made a text of. Raises `ValueError` for any other text."""
    reader = zlib.decompressobj()
    try:
        found = reader.decompress(base64.b64decode(text, validate=True), LARGEST)
    except (binascii.Error, zlib.error):
        raise ValueError("not packed") from None
    if not reader.eof:
        raise ValueError("cut off, or too long")
    return parsed(found)


def _digest(file: Path) -> str:
    """Digest of the rows in their order, however they are packed. Raises `InputError` if they cannot be read."""
    import duckdb

    try:
        asked = "SELECT spec || ' ' || metric || ' ' || seed AS who, step, value FROM read_parquet(?)"
        with cursor() as con:
            rows = con.execute(asked, [str(file)]).fetchnumpy()
    except duckdb.Error:
        raise InputError(f"rows {str(file)!r}: no file of published rows") from None
    found = hashlib.sha256()
    found.update("\n".join(map(str, rows["who"])).encode())
    for name in ("step", "value"):
        found.update(np.ascontiguousarray(np.ma.filled(rows[name], 0)).tobytes())
    return found.hexdigest()[:32]


def _metrics(run: RecipeRun, store: Store) -> frozenset[str]:
    results = found_in(run, store).results
    assert results is not None
    return frozenset(metric for arm in results.arms.values() for metric in arm.values)


def _says(recipe: Recipe, file: Path) -> Any:
    with tempfile.TemporaryDirectory() as aside:
        return _told(recipe, unpack(file, Path(aside)))


def _told(recipe: Recipe, store: Store) -> Any:
    """Claims and figure as a folder decides them, or None if it cannot."""
    try:
        asked = latest(recorded(store), recipe)
        found = None if asked is None else found_in(asked, store)
        if found is None or found.results is None or found.shown is None:
            return None
        return [canonical(claim.as_json()) for claim in found.claims], repr(found.run.figure(found.shown))
    except (InputError, MissingData):
        return None


def _metadata(file: Path) -> dict[str, Any]:
    import duckdb

    try:
        with cursor() as con:
            found = con.execute("SELECT key, value FROM parquet_kv_metadata(?)", [str(file)]).fetchall()
        return unpacked(dict(found)[KEY.encode()])
    except (duckdb.Error, KeyError, ValueError):
        raise InputError(f"rows {str(file)!r}: no file of published rows") from None


def main() -> None:
    from lopsided.study.targets import find

    out, folder, *names = sys.argv[1:]
    for name in names:
        file = publish(find(name), Store(out), Path(folder))
        print(f"{file}: {file.stat().st_size / 2**20:.2f} MB")


if __name__ == "__main__":
    main()
