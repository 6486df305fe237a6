"""Work for other processes: OUT/work/<order>.json says which specs and seeds are wanted; workers carry it out.

An order stays until everything in it is complete or was given up, whoever wrote it. Workers take jobs by the store's
leases, so any number of them may come, go and die.
"""

from __future__ import annotations

import hashlib
import json
import os
import socket
import sys
import threading
import time
import traceback
from collections.abc import Iterator, Sequence, Set
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from lopsided.core.errors import InputError, Stopped, StoreError
from lopsided.core.execution import Execution
from lopsided.core.spec import Spec
from lopsided.engines.choosing import require_engines
from lopsided.store.files import replace_text
from lopsided.store.leases import LOG, Leases
from lopsided.store.parts import Store
from lopsided.store.survey import MemberId
from lopsided.study.targets import find
from lopsided.work.jobs import wanted_members
from lopsided.work.rows import member_id
from lopsided.work.worker import run

NAME = "LOPSIDED_WORKER"
"""Environment variable that names a worker: its engine, and the engine's own number for it."""
CORES = "LOPSIDED_CORES"
"""Environment variable: the cores that a worker may use, as numbers with commas."""
LOOK_SECONDS = 0.5
"""Pause between looks at the folder."""


class Order(NamedTuple):
    """What is wanted."""

    target: str
    """What `lopsided run` was given: a recipe file's tasks have to be known before its specs can be read."""
    specs: tuple[str, ...]
    """Canonical JSON of each."""
    seeds: tuple[int, ...]
    job_size: int | None
    execution: str
    """JSON."""
    deadline: float | None = None
    """Seconds since 1970 after which workers commit and stop."""

    @property
    def name(self) -> str:
        """Digest of specs and seeds, so that an order is written once."""
        text = json.dumps([sorted(self.specs), self.seeds])
        return hashlib.sha256(text.encode()).hexdigest()[:16]


def write(store: Store, order: Order) -> None:
    """For workers to find."""
    folder = _folder(store)
    folder.mkdir(exist_ok=True)
    for old in (folder / STOP, folder / f"{order.name}{REFUSED}"):
        with suppress(FileNotFoundError):
            old.unlink()
    replace_text(folder / f"{order.name}.json", json.dumps(order._asdict()))


def remove(store: Store, order: Order) -> None:
    with suppress(FileNotFoundError):
        (_folder(store) / f"{order.name}.json").unlink()


def read(store: Store) -> list[Order]:
    """Orders that the folder holds; a file that is none is left out."""
    found = []
    for file in sorted(_folder(store).glob("[!.]*.json")):
        try:
            data = json.loads(file.read_text())
            found.append(Order(**{**data, "specs": tuple(data["specs"]), "seeds": tuple(map(int, data["seeds"]))}))
        except (OSError, ValueError, KeyError, TypeError):
            continue
    return found


STOP = ".stop"
REFUSED = ".refused"


def withdrawn(store: Store, order: Order) -> bool:
    """Whether an order is not there any more."""
    return not (_folder(store) / f"{order.name}.json").exists()


def _refuse(store: Store, order: Order, why: str) -> None:
    """Tell the head that nobody can carry out an order."""
    log = f"; log: {os.environ[LOG]}" if LOG in os.environ else ""
    replace_text(_folder(store) / f"{order.name}{REFUSED}", f"{why} (worker {_name()}{log})")
    remove(store, order)


def refused(store: Store, order: Order) -> str | None:
    """Why a worker cannot carry out an order, if one said so."""
    file = _folder(store) / f"{order.name}{REFUSED}"
    return file.read_text() if file.exists() else None


def ask_to_stop(store: Store) -> None:
    """Workers of the folder commit what they have and end; orders are withdrawn."""
    _folder(store).mkdir(exist_ok=True)
    for order in read(store):
        remove(store, order)
    (_folder(store) / STOP).touch()


def carry_out(store: Store, stop: threading.Event, idle_seconds: float) -> int:
    """Work on the folder's orders until there has been nothing to do for `idle_seconds`. Returns how many members were
    trained here. Raises `Stopped` when `stop` is set, by a signal, by `ask_to_stop` or by an order's deadline."""
    trained, last = 0, time.monotonic()
    with _watched(store, stop):
        while True:
            for order in read(store):
                trained += _carry_out(order, store, stop)
                last = time.monotonic()
            if time.monotonic() - last > idle_seconds:
                return trained
            if stop.wait(LOOK_SECONDS):
                raise Stopped


def as_worker(store: Store, stop: threading.Event, idle_seconds: float) -> int:
    """`carry_out`, seen by others as a living worker meanwhile."""
    store.require_writable()
    workers = Leases(store.root / "workers")
    workers.folder.mkdir(parents=True, exist_ok=True)
    with workers.hold(workers.take(_name(), (), 0)):
        return carry_out(store, stop, idle_seconds)


def _name() -> str:
    return os.environ.get(NAME) or f"worker-{socket.gethostname()}-{os.getpid()}"


def _carry_out(order: Order, store: Store, stop: threading.Event) -> int:
    if order.deadline is not None and time.time() > order.deadline:
        remove(store, order)
        return 0
    try:
        find(order.target)  # registers what a recipe file defines
        specs = [Spec.parse(json.loads(text)) for text in order.specs]
        execution = Execution.model_validate_json(order.execution)
        require_engines(specs, execution)
    except InputError as error:
        print(f"lopsided: order {order.name}: {error}", file=sys.stderr)
        _refuse(store, order, str(error))
        return 0
    try:
        done = run(specs, order.seeds, store, None, execution, stop, order.job_size, keep_going=True)
    except (OSError, StoreError, Stopped, InputError):  # of this machine, or of this moment: this worker ends
        raise
    except Exception as error:  # of no job, but of what all jobs need: a task that cannot be traced
        traceback.print_exc()
        _refuse(store, order, f"{type(error).__name__}: {error}")
        return 0
    if finished(store, {member_id(m) for m in wanted_members(specs, order.seeds)}):
        remove(store, order)
    return done.trained


def finished(store: Store, wanted: Set[MemberId]) -> bool:
    """Whether every member is complete or was given up."""
    return not wanted - set(store.complete()) - set(Leases(store.root).given_up())


@contextmanager
def _watched(store: Store, stop: threading.Event) -> Iterator[None]:
    """Within it, `stop` is set as soon as somebody asks the folder's workers to stop, or when the deadlines of all
    orders are over."""
    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(LOOK_SECONDS):
            with suppress(OSError):
                deadlines = [order.deadline for order in read(store)]
                over = bool(deadlines) and all(d is not None and time.time() > d for d in deadlines)
                if over or (_folder(store) / STOP).exists():
                    stop.set()

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _folder(store: Store) -> Path:
    return store.root / "work"


def of(target: str, specs: Sequence[Spec], seeds: int | Sequence[int], **more: Any) -> Order:
    """An order of those members."""
    wanted = tuple(range(seeds)) if isinstance(seeds, int) else tuple(seeds)
    known = str(Path(target).absolute()) if target.endswith((".py", ".json")) else target
    return Order(known, tuple(spec.canonical_json() for spec in specs), wanted, **more)
