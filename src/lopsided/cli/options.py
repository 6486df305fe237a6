"""Flags that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from lopsided.core.errors import InputError

if TYPE_CHECKING:
    from lopsided.store.parts import Store

OUT = Path("lopsided-runs")
Out = Annotated[Path, Parameter(name="--out", help="Folder of the store.")]
Json = Annotated[bool, Parameter(name="--json", negative="", help="Print one JSON document on stdout, nothing else.")]


def chosen(directory: Path | None, out: Path) -> Path:
    """The folder that a command is about, given by position or by `--out`. Raises `InputError` for two."""
    if directory is not None and out not in (OUT, directory):
        raise InputError(f"{str(directory)!r} and --out {str(out)!r}: give one folder")
    return out if directory is None else directory


def existing(folder: Path) -> Store:
    """The store in a folder, as of now. Raises `InputError` where there is none."""
    from lopsided.store.parts import Store

    if not (folder / "parts").is_dir():
        raise no_store(folder)
    return Store(folder).as_of_now()


def no_store(folder: Path, command: str = "lopsided run RECIPE") -> InputError:
    """The error of a folder without a store, and the command that makes one; there is none for a file."""
    if folder.is_file():
        return InputError(f"folder {str(folder)!r}: is a file; a store is a folder")
    return InputError(f"folder {str(folder)!r}: no store there; `{command} --out {folder}` makes one")


def require_values(arguments: list[str]) -> None:
    """`--set` and `--looks` without a value are mistakes, not a run without them; and an empty value (a variable of the
    shell that is not set) is not the present folder."""
    for flag, following in zip(arguments, [*arguments, "--"][1:], strict=True):
        if flag == "--set" and following.startswith("--"):
            raise InputError("--set: takes key=value, for example --set optimizer.lr=0.01")
        if flag == "--looks" and following.startswith("--"):
            raise InputError("--looks: takes numbers of new seeds, for example --looks 8 24 64")
        if flag.startswith("--") and not following:
            raise InputError(f"{flag}: its value is empty")
