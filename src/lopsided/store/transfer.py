"""Parts as bytes: from the folder of a machine that shares no disk with the others, into the one where they belong."""

from __future__ import annotations

import io
import os
import shutil
import tarfile
import uuid
from collections.abc import Set

from lopsided.core.errors import StoreError
from lopsided.store.files import sync, sync_tree
from lopsided.store.index import FOLDER
from lopsided.store.parts import Store
from lopsided.store.survey import MemberId

FILES = ("part.json", "rows.parquet")


def packed(store: Store, members: Set[MemberId]) -> bytes:
    """The parts that hold rows of these members, without checkpoints."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for part in store.parts():
            if any((spec, seed) in members for spec, seeds in part.seeds.items() for seed in seeds):
                folder = store.path(part)
                for name in FILES:
                    tar.add(folder / name, arcname=f"{folder.name}/{name}")
    return out.getvalue()


def adopt(store: Store, parts: bytes) -> int:
    """Add packed parts to a store; those that it has already are left as they are. Returns how many are new. Readers
    check their checksums as they do those of any part."""
    found: dict[str, dict[str, bytes]] = {}
    with tarfile.open(fileobj=io.BytesIO(parts)) as tar:
        for item in tar.getmembers():
            folder, _, name = item.name.partition("/")
            content = tar.extractfile(item)
            if FOLDER.fullmatch(folder) is None or name not in FILES or content is None:
                raise StoreError(f"received parts: {item.name!r} is no file of a part")
            found.setdefault(folder, {})[name] = content.read()
    new = 0
    for folder, files in sorted(found.items()):
        final = store.root / "parts" / folder
        aside = store.root / "parts" / f".writing-{uuid.uuid4().hex}"
        aside.mkdir()
        for name, content in files.items():
            (aside / name).write_bytes(content)
        sync_tree(aside)
        try:
            os.rename(aside, final)
            new += 1
        except OSError:
            shutil.rmtree(aside, ignore_errors=True)
            if not final.is_dir():
                raise
    sync(store.root / "parts")
    return new
