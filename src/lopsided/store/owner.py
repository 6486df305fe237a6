"""The process that a lease names."""

from __future__ import annotations

import os
import socket
from contextlib import suppress
from functools import cache
from pathlib import Path

from lopsided.store.records import StrictRecord


class Owner(StrictRecord):
    """A process."""

    host: str
    pid: int
    started: str | None
    folder: str = ""
    """Which folder it works in: a copy of the folder is another one."""


@cache
def host() -> str:
    """This machine and process namespace: pids mean nothing outside."""
    parts = [socket.gethostname()]
    with suppress(OSError):
        parts.append(Path("/proc/sys/kernel/random/boot_id").read_text().strip())
    with suppress(OSError):
        parts.append(os.readlink("/proc/self/ns/pid"))
    return ":".join(parts)


def start_of(pid: int) -> str | None:
    """When a process started (its pid may be reused), or None if there is none. A zombie counts as gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return None if fields[0] in "ZX" else fields[19]
    except FileNotFoundError:
        if Path("/proc/self/stat").exists():
            return None
    except (OSError, IndexError):
        return None
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return None
    except OSError:
        pass
    return "unknown"


def owner(folder: Path | None = None) -> Owner:
    """This process, as leases in a folder name it."""
    where = "" if folder is None else name_of(folder)
    return Owner(host=host(), pid=os.getpid(), started=start_of(os.getpid()), folder=where)


def name_of(folder: Path) -> str:
    """A folder's number on its disk, of which a copy has another one."""
    try:
        return str(os.stat(folder).st_ino)
    except OSError:
        return ""
