"""Offline runs of W&B (`run-….wandb`): records in LevelDB's log format, each a message of Protocol Buffers.

Both formats are small enough to read here, and W&B's own Python reader is gone from its package. Numbers of fields are
those of W&B's `wandb_internal.proto`, which may add some and changes none.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lopsided.core.errors import InputError
from lopsided.core.json_text import parsed
from lopsided.logs.asked import Log, ReadArguments
from lopsided.logs.tables import logs_of

HEADER, BLOCK, RECORD = 7, 32_768, 7
"""Bytes: before the first record, of a block, and of a record's own header (checksum, length, kind)."""
FULL, FIRST, MIDDLE, LAST = 1, 2, 3, 4
HISTORY, CONFIG, RUN = 2, 5, 17
"""Fields of a record."""
ITEM, STEP, NUMBER = 1, 2, 1
"""Fields of a history and of its step."""
KEY, NESTED, JSON = 1, 2, 16
"""Fields of an item, and of an update of the configuration."""
UPDATE, RUN_CONFIG, NAME = 1, 4, 8
"""Fields of a configuration, and of a run."""
VARINT, FIXED_64, BYTES, FIXED_32 = 0, 1, 2, 5
"""Kinds of fields on the wire."""

Message = dict[int, list[Any]]


def read(path: Path, asked: ReadArguments, notes: list[str]) -> list[Log]:
    """The run of one file. Raises `InputError` for a file that is none."""
    rows: list[dict[str, Any]] = []
    config: dict[str, Any] = {}
    name = path.stem
    try:
        for data in _records(path):
            record = _message(data)
            rows += map(_row, map(_message, record.get(HISTORY, ())))
            for run in map(_message, record.get(RUN, ())):
                name = run[NAME][0].decode() if NAME in run else name
                for each in run.get(RUN_CONFIG, ()):
                    config |= _items(_message(each).get(UPDATE, ()))
            for each in record.get(CONFIG, ()):
                config |= _items(_message(each).get(UPDATE, ()))
    except (IndexError, KeyError, ValueError) as error:
        raise InputError(f"{path}: is no run of W&B's ({type(error).__name__})") from None
    if not rows:
        raise InputError(f"{path}: has no history")
    config = {key: value for key, value in config.items() if not key.startswith("_")}
    names = list(dict.fromkeys(key for row in rows for key in row))
    columns = {key: [row.get(key) for row in rows] for key in names}
    return [log._replace(run=name) for log in logs_of(path, columns, asked, notes, {"run": name, **config})]


def _row(history: Message) -> dict[str, Any]:
    """The numbers and words of one call of `log`."""
    row = _items(history.get(ITEM, ()))
    if "_step" not in row and STEP in history:
        row["_step"] = _message(history[STEP][0]).get(NUMBER, [0])[0]
    return {key: value for key, value in row.items() if not isinstance(value, dict | list)}


def _items(items: Any) -> dict[str, Any]:
    found = {}
    for item in map(_message, items):
        key = ".".join(part.decode() for part in item.get(NESTED, ())) or item[KEY][0].decode()
        found[key] = parsed(item[JSON][0])
    return found


def _message(data: bytes) -> Message:
    """The fields of a message: whole numbers, or bytes. Raises `IndexError` or `ValueError` for what is none."""
    found: Message = {}
    at = 0
    while at < len(data):
        tag, at = _varint(data, at)
        number, kind = tag >> 3, tag & 7
        if kind == VARINT:
            value, at = _varint(data, at)
        elif kind in (FIXED_64, FIXED_32):
            width = 8 if kind == FIXED_64 else 4
            value, at = data[at : at + width], at + width
        elif kind == BYTES:
            length, at = _varint(data, at)
            value, at = data[at : at + length], at + length
            if at > len(data):
                raise IndexError(at)
        else:
            raise ValueError(kind)
        found.setdefault(number, []).append(value)
    return found


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        value, shift, at = value | (byte & 127) << shift, shift + 7, at + 1
        if byte < 128:
            return value, at


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
