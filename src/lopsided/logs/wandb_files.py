"""Offline runs of W&B (`run-….wandb`): records of its protocol in LevelDB's log format; takes the package `wandb`."""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lopsided.core.errors import InputError
from lopsided.logs.asked import Asked, Log
from lopsided.logs.tables import logs_of

HEADER, BLOCK, RECORD = 7, 32_768, 7
"""Bytes: before the first record, of a block, and of a record's own header (checksum, length, kind)."""
FULL, FIRST, MIDDLE, LAST = 1, 2, 3, 4


def read(path: Path, asked: Asked, notes: list[str]) -> list[Log]:
    """The run of one file. Raises `InputError` for a file that is none, or without the package."""
    try:
        protocol = importlib.import_module("wandb.proto.wandb_internal_pb2")
    except ImportError:
        raise InputError(f"{path}: offline runs of W&B take `pip install wandb`; or export the table") from None
    rows: list[dict[str, Any]] = []
    config: dict[str, Any] = {}
    name = path.stem
    for data in _records(path):
        record = protocol.Record()
        try:
            record.ParseFromString(data)
        except Exception as error:
            raise InputError(f"{path}: is no run of W&B's ({type(error).__name__})") from None
        if record.HasField("history"):
            row = {".".join(item.nested_key) or item.key: json.loads(item.value_json) for item in record.history.item}
            if "_step" not in row and record.history.HasField("step"):
                row["_step"] = record.history.step.num
            rows.append({key: value for key, value in row.items() if not isinstance(value, dict | list)})
        elif record.HasField("run") or record.HasField("config"):
            of_run = record.HasField("run")
            updates = record.run.config.update if of_run else record.config.update
            config |= {item.key: json.loads(item.value_json) for item in updates if item.key != "_wandb"}
            name = record.run.display_name or name if of_run else name
    if not rows:
        raise InputError(f"{path}: has no history")
    names = list(dict.fromkeys(key for row in rows for key in row))
    columns = {key: [row.get(key) for row in rows] for key in names}
    return [log._replace(run=name) for log in logs_of(path, columns, asked, notes, {"run": name, **config})]


def _records(path: Path) -> Iterator[bytes]:
    """The records of a file in LevelDB's log format; one that was cut short at the end is left out."""
    data = path.read_bytes()
    if data[:4] != b":W&B":
        raise InputError(f"{path}: is no run of W&B's")
    at, parts = HEADER, b""
    while at + RECORD <= len(data):
        if BLOCK - at % BLOCK < RECORD:  # the rest of a block is filled up
            at += BLOCK - at % BLOCK
            continue
        length, kind = int.from_bytes(data[at + 4 : at + 6], "little"), data[at + 6]
        piece = data[at + RECORD : at + RECORD + length]
        if len(piece) < length or not kind:
            return
        at += RECORD + length
        parts = piece if kind in (FULL, FIRST) else parts + piece
        if kind in (FULL, LAST):
            yield parts
