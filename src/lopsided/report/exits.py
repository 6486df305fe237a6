"""How a command ends: its exit code, and one line on stderr where it did not do what was asked."""

from __future__ import annotations

import os
import sys
import sysconfig
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

from cyclopts import CycloptsError, UnusedCliTokensError

from lopsided.core.errors import InputError, Stopped
from lopsided.core.telling import tell


@contextmanager
def exits(whole: bool = False) -> Iterator[None]:
    """Exit codes: 2 for a mistake of the user's or a folder that fails, 130 after a stop by SIGINT and 143 after one by
    SIGTERM, 141 if the reader of the output went away. Anything else is a bug and raises. `whole`: an error in code of
    the user's own has its traceback printed, too."""
    try:
        yield
    except InputError as error:
        cause = error.__cause__
        place = _in_own_code(cause) if isinstance(cause, Exception) else None
        if place is None or cause is None:
            _fail(str(error))
        if whole:
            traceback.print_exception(cause)
        _fail(f"{error} ({place}{'' if whole else '; --traceback shows how it came there'})")
    except UnusedCliTokensError as error:
        unused = " ".join(map(str, error.unused_tokens or ()))
        _fail(f"takes no {unused!r} there; --help says what it takes")
    except CycloptsError as error:
        _fail(str(error))
    except Stopped as error:
        said = str(error) or "stopped; everything computed is committed. The same command goes on."
        print(f"\nlopsided: {said}", file=sys.stderr)
        sys.exit(Stopped.exit_code)
    except KeyboardInterrupt:
        print("\nlopsided: stopped at once; the same command goes on from the last commit.", file=sys.stderr)
        sys.exit(130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)
    except OSError as error:  # for example a full disk behind our output
        _fail(f"{error.strerror or error}{f': {error.filename}' if error.filename else ''}")
    except Exception as error:
        place = _in_own_code(error)
        if place is None:
            raise
        if whole:
            traceback.print_exc()
        hint = "" if whole else " (--traceback shows how it came there)"
        _fail(f"{place}: {type(error).__name__}: {error}{hint}")


def _in_own_code(error: Exception) -> str | None:
    """File and line of the user's that raised, or called what raised; None where no code of the user's had a part."""
    place, frame = None, error.__traceback__
    while frame is not None:
        file = frame.tb_frame.f_code.co_filename
        if Path(file).is_file() and not _of_library(Path(file).resolve()):
            place = f"file {file!r}, line {frame.tb_lineno}"
        frame = frame.tb_next
    return place


def _of_library(file: Path) -> bool:
    folders = [Path(__file__).parent.parent, *(Path(sysconfig.get_path(k)) for k in ("stdlib", "purelib", "platlib"))]
    return any(file.is_relative_to(folder.resolve()) for folder in folders)


def _fail(message: str) -> NoReturn:
    tell(" ".join(message.split()))
    sys.exit(2)
