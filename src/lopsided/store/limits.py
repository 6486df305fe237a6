"""A limit of memory for what somebody asks."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

STATM = Path("/proc/self/statm")


@contextmanager
def address_space(more: int) -> Iterator[None]:
    """At most `more` bytes of memory more for this process, where the system can say and limit that (Linux).

    DuckDB's `memory_limit` does not see a vector while it is made: `range(1000000000)` takes 8 GB under any limit, and
    two of them take 16. Only for a process that does nothing else meanwhile: threads share the limit.
    """
    if not STATM.is_file():
        yield
        return
    import resource

    used = int(STATM.read_text().split()[0]) * os.sysconf("SC_PAGESIZE")
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    wanted = used + more
    lower = wanted if soft == resource.RLIM_INFINITY else min(soft, wanted)
    resource.setrlimit(resource.RLIMIT_AS, (lower, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
