"""What made a number: versions, platform, time, command."""

from __future__ import annotations

import platform
import shlex
import subprocess
import sys
from datetime import UTC, datetime
from functools import cache
from importlib import metadata
from pathlib import Path


@cache
def software() -> dict[str, str]:
    """Versions, and the commit of the source where it is a checkout (with `+` if it was changed)."""
    versions = {name: metadata.version(name) for name in ("lopsided", "jax", "jaxlib", "optax", "equinox", "numpy")}
    versions["python"] = platform.python_version()
    here = Path(__file__).resolve()
    git = ["git", "-C", str(here.parent), "describe", "--always", "--dirty=+", "--abbrev=12", "--match", "no-tag"]
    if any((parent / ".git").exists() for parent in here.parents[:5]):
        try:
            done = subprocess.run(git, capture_output=True, text=True, timeout=5, check=False)
            versions["commit"] = done.stdout.strip() or "unknown"
        except (OSError, subprocess.SubprocessError):
            versions["commit"] = "unknown"
    return versions


@cache
def _processor() -> str:
    """Name of the processor, where the system says it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return ""
    return next((f", {line.partition(':')[2].strip()}" for line in lines if line.startswith("model name")), "")


def machine() -> str:
    """This machine, as parts name it."""
    return f"{platform.system()} {platform.machine()}{_processor()}"


def command() -> str:
    """The command line that started this process, quoted for a shell, without folders: `lopsided run adam`,
    `python -m lopsided.cli run adam`.

    Rows are shared and published with it. So of a program that is not lopsided's only the name is kept, as its
    arguments may be passwords and keys; and of an absolute path the last part, as folders tell who somebody is.
    """
    module = getattr(sys.modules["__main__"], "__spec__", None)
    name = Path(sys.argv[0]).name if module is None else module.name.removesuffix(".__main__")
    program = name if module is None else f"python -m {name}"
    if name.partition(".")[0] != "lopsided":
        return program
    return f"{program} {shlex.join(map(_without_folder, sys.argv[1:]))}".rstrip()


def _without_folder(argument: str) -> str:
    """An argument with each absolute path, alone or after `=`, as its last part."""
    flag, equals, value = argument.rpartition("=")
    return f"{flag}{equals}{Path(value).name}" if Path(value).is_absolute() else argument


def provenance(device: str, execution: dict[str, object]) -> dict[str, object]:
    """Provenance of rows that are being made now on `device`, run as `execution` says."""
    return {
        "software": software(),
        "device": device,
        "execution": execution,
        "machine": machine(),
        "command": command(),
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
    }
