"""Work for other processes: OUT/work/<order>.json says which specs and seeds are wanted; workers carry it out.

An order stays until everything in it is complete or was given up, whoever wrote it. Workers take jobs by the store's
leases, so any number of them may come, go and die.
"""

from __future__ import annotations

import hashlib
import json
import os
import socket
import threading
import time
import traceback
from collections.abc import Iterator, Sequence, Set
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from lopsided.core.errors import InputError, Stopped, StoreError
from lopsided.core.execution import Execution
from lopsided.core.json_text import parsed
from lopsided.core.spec import Spec
from lopsided.core.telling import tell
from lopsided.engines.choosing import require_engines
from lopsided.store import records
from lopsided.store.files import replace_text
from lopsided.store.leases import LOG, Leases
from lopsided.store.parts import Store
from lopsided.store.paths import folder_in
from lopsided.store.records import Seed, StrictRecord, owned
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


class Order(StrictRecord):
    """What is wanted. Orders of this user, or of root, are carried out: a target may be a file that is executed."""

    target: Annotated[str, Field(max_length=4096)]
    """What `lopsided run` was given: a recipe file's tasks have to be known before its specs can be read."""
    specs: tuple[str, ...]
    """Canonical JSON of each."""
    seeds: tuple[Seed, ...]
    job_size: int | None
    execution: str
    """JSON."""
    deadline: float | None = None
    """Seconds since 1970 after which workers commit and stop."""
    program: str = ""
    """SHA-256 of the file that `target` names: workers execute it as it was when the order was written, or not."""

    @property
    def stem(self) -> str:
        return self.name

    @property
    def name(self) -> str:
        """Digest of specs and seeds, so that an order is written once."""
        text = json.dumps([sorted(self.specs), self.seeds])
        return hashlib.sha256(text.encode()).hexdigest()[:16]


def write(store: Store, order: Order) -> None:
    """For workers to find."""
    folder = folder_in(store.root, "work")
    for old in (folder / STOP, folder / f"{order.name}{REFUSED}"):
        with suppress(FileNotFoundError):
            old.unlink()
    # Nobody else may write it, whatever the umask: it may name a file that workers execute.
    replace_text(folder / f"{order.name}.json", order.model_dump_json(), 0o644)


def remove(store: Store, order: Order) -> None:
    with suppress(FileNotFoundError):
        (_folder(store) / f"{order.name}.json").unlink()


def read(store: Store) -> list[Order]:
    """Orders that the folder holds, of this user or of root, that nobody else may write; a file that is none, also one
    under another name than its own (a copy that some other program made), is left out, and named once."""
    found = []
    for file, order in records.all_of(_folder(store), Order, own=not os.environ.get(TRUSTED)):
        if order is not None:
            found.append(order)
        elif str(file) not in _SAID:
            try:
                why = (
                    "no order" if owned(file) else f"an order that others may have written; {TRUSTED}=1 carries it out"
                )
            except OSError:
                continue  # withdrawn just now
            _SAID.add(str(file))
            tell(f"{file}: {why}; left out")
    return found


_SAID: set[str] = set()
TRUSTED = "LOPSIDED_TRUST_ORDERS"
"""Environment variable: carry out the orders of whoever may write into the folder."""


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
    try:
        return records.text_of(_folder(store) / f"{order.name}{REFUSED}")
    except OSError:
        return None


def ask_to_stop(store: Store) -> tuple[list[str], int]:
    """Workers of the folder commit what they have and end; orders are withdrawn. Returns the workers that live, by
    name, and how many orders there were."""
    folder_in(store.root, "work")
    orders = read(store)
    for order in orders:
        remove(store, order)
    (_folder(store) / STOP).touch()
    return [lease.job for lease in Leases(store.root / "workers").all() if lease.alive], len(orders)


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
        if order.program != _digest_of(order.target):
            raise InputError(f"{order.target}: is not the file any more that the order was written for")
        find(order.target)  # registers what a recipe file defines
        specs = [Spec.parse(parsed(text)) for text in order.specs]
        execution = Execution.model_validate_json(order.execution)
        require_engines(specs, execution)
    except (ValueError, RecursionError) as error:
        why = str(error) if isinstance(error, InputError) else f"{type(error).__name__}: {str(error).splitlines()[0]}"
        tell(f"order {order.name}: {why}")
        _refuse(store, order, why)
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
    ended, asked_before = threading.Event(), _asked_to_stop(store)

    def watch() -> None:
        while not ended.wait(LOOK_SECONDS):
            with suppress(OSError):
                deadlines = [order.deadline for order in read(store)]
                over = bool(deadlines) and all(d is not None and time.time() > d for d in deadlines)
                # Who came after the others had been asked to stop is not meant.
                if over or _asked_to_stop(store) not in (None, asked_before):
                    stop.set()

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _asked_to_stop(store: Store) -> int | None:
    """When the folder's workers were last asked to stop, by the file server's clock."""
    try:
        return (_folder(store) / STOP).stat().st_mtime_ns
    except OSError:
        return None


def _folder(store: Store) -> Path:
    return store.root / "work"


def of(target: str, specs: Sequence[Spec], seeds: int | Sequence[int], **more: Any) -> Order:
    """An order of those members."""
    wanted = tuple(range(seeds)) if isinstance(seeds, int) else tuple(seeds)
    known = str(Path(target).absolute()) if target.endswith((".py", ".json")) else target
    texts = tuple(spec.canonical_json() for spec in specs)
    return Order(target=known, specs=texts, seeds=wanted, program=_digest_of(known), **{"job_size": None, **more})


def _digest_of(target: str) -> str:
    """SHA-256 of the file that a target names; empty for a recipe's name."""
    if not target.endswith((".py", ".json")):
        return ""
    try:
        return hashlib.sha256(Path(target).read_bytes()).hexdigest()
    except OSError:
        return ""
