"""Data sets for other people's trainers, written as fast as samples are drawn; goes on where it stopped.

Pieces of `PIECE` documents are written one after the other into a folder beside the file, each as a whole or not at
all; what is there when the command runs again is kept. When enough tokens are there, the pieces become the file.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from lopsided.core.batch import Batch, target_weights
from lopsided.core.code import parts_digest
from lopsided.core.errors import InputError
from lopsided.export.samples import READABLE, SampleRange
from lopsided.store.files import replace_text
from lopsided.tasks._text import TextTask
from lopsided.text.bytes import ByteTable
from lopsided.text.pieces import END

PIECE = 1 << 16
DRAWN = 1 << 13
"""Documents that are drawn at once."""
MOST_PIECES = 2**32 // PIECE
SUFFIXES = {"K": 10**3, "M": 10**6, "B": 10**9}
KINDS = (".parquet", ".jsonl")


class Written(NamedTuple):
    """What an export holds."""

    documents: int
    tokens: int


class _Documents(NamedTuple):
    """Some documents as ragged arrays: tokens, how many of each are prompt and answer, skills."""

    tokens: np.ndarray
    prompts: np.ndarray
    answers: np.ndarray
    skills: np.ndarray
    needed: np.ndarray


def token_number(text: str) -> int:
    """`10M` as 10,000,000. Raises `InputError` if it is no positive number."""
    factor = SUFFIXES.get(text[-1:].upper(), 1)
    digits = text[:-1] if factor > 1 else text
    try:
        number = round(float(digits) * factor)
    except (ValueError, OverflowError):
        number = 0
    if number < 1:
        raise InputError(f"--tokens {text!r}: a number above 0, for example 500K, 10M or 1B")
    return number


def export(asked: SampleRange, file: Path, tokens: int, done: Callable[[Written], None]) -> Written:
    """Write documents with at least so many tokens, prompts and answers counted, to a .parquet or .jsonl file.

    Columns `text` (prompt and answer), `prompt`, `answer`, `skills` (ids) and `split`. `done` is told what there is
    after each piece. Raises `InputError` if the file exists or cannot be made, or the task is not made of text.
    """
    task = asked.task
    if not isinstance(task, TextTask):
        raise InputError(f"--export: task {task.name!r} is not made of text; its batches come from lopsided.batches")
    if task.context is not None or task.train_on != "answer":
        raise InputError("--export: writes documents one by one; leave out context and train_on")
    if task.tokens == "phrases":
        raise InputError(f"--set tokens=phrases: tokens that stand for two texts; valid is for example {READABLE}")
    if file.suffix not in KINDS:
        raise InputError(f"--export {str(file)!r}: ends in {' or '.join(KINDS)}")
    if file.exists():
        raise InputError(f"--export {str(file)!r}: exists")
    write = _write_parquet() if file.suffix == ".parquet" else _write_lines
    folder = file.with_name(f".{file.name}.pieces")
    _begin(folder, {**asked.describe(), "tokens": tokens, "code": parts_digest(task, asked.skills)})
    table = _bytes_of(task)
    so_far, number = Written(0, 0), 0
    while so_far.tokens < tokens:
        if number == MOST_PIECES:
            raise InputError(f"--tokens: {so_far.tokens:,} are all that a stream of 2^32 documents holds")
        piece, count = folder / f"{number:06d}{file.suffix}", folder / f"{number:06d}.count"
        if not count.exists():
            found = _piece(asked, task, number, tokens - so_far.tokens)
            aside = folder / f"aside-{os.getpid()}"
            write(aside, found, table, asked.split)
            aside.replace(piece)
            replace_text(count, json.dumps([len(found.prompts), len(found.tokens)]))
        documents, written = json.loads(count.read_text())
        so_far = Written(so_far.documents + documents, so_far.tokens + written)
        number += 1
        done(so_far)
    _join(folder, file, number)
    return so_far


def _begin(folder: Path, request: dict[str, Any]) -> None:
    """The folder of pieces, a fresh one or one of the same request."""
    text = json.dumps(request, sort_keys=True)
    try:
        folder.mkdir(exist_ok=True)
        about = folder / "request.json"
        if about.exists() and about.read_text() != text:
            made = "pieces of another request or another version of the code"
            raise InputError(f"--export: {str(folder)!r} holds {made}; remove it to start anew")
        replace_text(about, text)
    except OSError as error:
        raise InputError(f"--export: {str(folder)!r} cannot be written ({error.strerror})") from None


def _piece(asked: SampleRange, task: TextTask, number: int, most: int) -> _Documents:
    """Documents PIECE * number, ..., or as many as have `most` tokens."""
    parts: list[_Documents] = []
    tokens = 0
    for start in range(number * PIECE, (number + 1) * PIECE, DRAWN):
        part = _documents(asked.draw(start, DRAWN), task)
        parts.append(part)
        tokens += len(part.tokens)
        if tokens >= most:
            break
    whole = _Documents(*(np.concatenate(column) for column in zip(*parts, strict=True)))
    ends = np.cumsum(whole.prompts + whole.answers)
    return _first(whole, min(int(np.searchsorted(ends, most)) + 1, len(ends)))


def _documents(batch: Batch, task: TextTask) -> _Documents:
    """Rows with one document each, as ragged arrays; empty rows are left out."""
    asked = np.asarray(target_weights(batch)) > 0
    length = batch.inputs.shape[1] - asked.shape[1] + 1
    rows = np.concatenate([batch.inputs[:, :length], batch.targets], axis=1)
    prompt = np.concatenate([batch.segments[:, :length] > 0, np.zeros_like(asked)], axis=1)
    answer = np.concatenate([np.zeros((len(rows), length), bool), asked], axis=1)
    there = asked.any(1)
    rows, prompt, answer, skills = rows[there], prompt[there], answer[there], batch.skills[there]
    known = skills >= 0
    return _Documents(rows[prompt | answer], prompt.sum(1), answer.sum(1), skills[known], known.sum(1))


def _first(d: _Documents, n: int) -> _Documents:
    tokens, needed = int((d.prompts + d.answers)[:n].sum()), int(d.needed[:n].sum())
    return _Documents(d.tokens[:tokens], d.prompts[:n], d.answers[:n], d.skills[:needed], d.needed[:n])


def _bytes_of(task: TextTask) -> list[str]:
    """Text of every token; what ends a document in training has none."""
    texts = [task.table.cutting.decode([t]) for t in range(task.table.vocabulary)]
    return ["" if text == END else text for text in texts]


def _columns(d: _Documents) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Tokens of prompts and of answers, with the number of each document's."""
    counts = d.prompts + d.answers
    place = np.arange(len(d.tokens)) - np.repeat(np.cumsum(counts) - counts, counts)
    prompt = place < np.repeat(d.prompts, counts)
    return d.tokens[prompt], d.prompts, d.tokens[~prompt], d.answers


def _write_lines(file: Path, d: _Documents, texts: list[str], split: str) -> None:
    """One JSON object a line, put together from bytes: every token is escaped once, not once a document."""
    n = len(d.prompts)
    escaped = [json.dumps(text, ensure_ascii=False)[1:-1].encode() for text in texts]
    fixed = ['{"text": "', '", "prompt": "', '", "answer": "', '", "skills": [', f'], "split": "{split}"}}\n', ", "]
    most = int(d.skills.max()) + 1 if len(d.skills) else 0
    table = ByteTable([*escaped, *(t.encode() for t in fixed), *(str(s).encode() for s in range(most))])
    begin, prompt_at, answer_at, skills_at, close, comma = range(len(texts), len(texts) + len(fixed))
    skill_at = len(texts) + len(fixed)
    prompts, prompt_counts, answers, answer_counts = _columns(d)
    listed = np.full(2 * len(d.skills), comma)  # every skill behind a comma, but the first of a document
    listed[1::2] = skill_at + d.skills
    first = np.cumsum(d.needed) - d.needed
    keep = np.ones(len(listed), bool)
    keep[2 * first[d.needed > 0]] = False
    listed, listed_counts = listed[keep], np.maximum(2 * d.needed - 1, 0)
    one = np.ones(n, np.int64)
    parts = [
        (np.full(n, begin), one), (d.tokens, prompt_counts + answer_counts), (np.full(n, prompt_at), one),
        (prompts, prompt_counts), (np.full(n, answer_at), one), (answers, answer_counts),
        (np.full(n, skills_at), one), (listed, listed_counts), (np.full(n, close), one),
    ]  # fmt: skip
    tokens, counts = _woven(parts)
    file.write_bytes(table.joined(tokens, counts).data.tobytes())


def _woven(parts: list[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    """Ragged columns (values, counts) put side by side, document by document."""
    counts = np.stack([count for _, count in parts], axis=1)  # (n, columns)
    flat = counts.reshape(-1)
    starts = (np.cumsum(flat) - flat).reshape(counts.shape)
    woven = np.empty(int(flat.sum()), np.int64)
    for column, (values, count) in enumerate(parts):
        inside = np.arange(len(values)) - np.repeat(np.cumsum(count) - count, count)
        woven[np.repeat(starts[:, column], count) + inside] = values
    return woven, counts.sum(1)


def _write_parquet() -> Callable[[Path, _Documents, list[str], str], None]:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise InputError("--export: Parquet takes `pip install pyarrow`; or write .jsonl") from None

    def strings(table: ByteTable, tokens: np.ndarray, counts: np.ndarray) -> Any:
        found = table.joined(tokens, counts)
        offsets = np.concatenate([[0], found.ends]).astype(np.int32)
        return pa.StringArray.from_buffers(len(counts), pa.py_buffer(offsets), pa.py_buffer(found.data.tobytes()))

    def write(file: Path, d: _Documents, texts: list[str], split: str) -> None:
        table = ByteTable([text.encode() for text in texts])
        prompts, prompt_counts, answers, answer_counts = _columns(d)
        offsets = np.concatenate([[0], np.cumsum(d.needed)]).astype(np.int32)
        columns = {
            "text": strings(table, d.tokens, d.prompts + d.answers),
            "prompt": strings(table, prompts, prompt_counts),
            "answer": strings(table, answers, answer_counts),
            "skills": pa.ListArray.from_arrays(offsets, pa.array(d.skills.astype(np.int32))),
            "split": pa.array([split] * len(d.prompts)),
        }
        pq.write_table(pa.table(columns), file)

    return write


def _join(folder: Path, file: Path, count: int) -> None:
    """The pieces as one file, which appears whole; then the pieces go."""
    pieces = [folder / f"{i:06d}{file.suffix}" for i in range(count)]
    aside = folder / f"whole{file.suffix}"
    if file.suffix == ".jsonl":
        with aside.open("wb") as out:
            for piece in pieces:
                with piece.open("rb") as one:
                    shutil.copyfileobj(one, out)
    else:
        import pyarrow.parquet as pq

        with pq.ParquetWriter(aside, pq.read_schema(pieces[0])) as out:
            for piece in pieces:
                out.write_table(pq.read_table(piece))
    aside.replace(file)
    shutil.rmtree(folder)
