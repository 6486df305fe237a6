"""`lopsided new`: a file to begin with."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from lopsided.core.errors import InputError


def new(what: Literal["recipe"], file: Path, /, *, from_: Annotated[str, Parameter(name="--from")]) -> None:
    """Write a recipe of this package into a file of your own, to change and to run.

    Parameters
    ----------
    what
        recipe
    file
        The Python file to write; it must not exist. Its name becomes the recipe's.
    from_
        The recipe to begin with: `lopsided list` shows them.
    """
    import inspect

    from lopsided.core.registry import registered
    from lopsided.study.targets import NAME, find, require_no_runs_name

    if from_.endswith((".py", ".json")):
        raise InputError(f"--from {from_!r}: valid is the name of a recipe; `lopsided list` shows them")
    recipe = find(from_)
    if file.suffix != ".py":
        raise InputError(f"{str(file)!r}: a recipe is a Python file; its name ends in .py")
    if not NAME.fullmatch(file.stem):
        raise InputError(f"{file.stem!r} cannot name a recipe's files; valid: at most 100 letters, digits, -, _ and .")
    require_no_runs_name(file.stem, file)
    if file.stem in registered("recipe"):
        raise InputError(f"{str(file)!r}: this package has a recipe {file.stem!r}; name the file by what yours is")
    text = Path(inspect.getfile(recipe.arms)).read_text(encoding="utf-8")
    text, changed = re.subn(rf'name="{re.escape(recipe.name)}"', f'name="{file.stem}"', text, count=1)
    assert changed == 1
    text = text.replace(f"lopsided run {recipe.name}", f"lopsided run {file.name}")
    try:
        with file.open("x", encoding="utf-8") as opened:
            opened.write(text)
    except FileExistsError:
        raise InputError(f"{str(file)!r}: exists already") from None
    except OSError as error:
        raise InputError(f"{str(file)!r}: cannot be written ({error.strerror})") from None
    print(f"{file}: a copy of {recipe.name}. Change what you like; `lopsided run {file} --scale smoke` tries it out.")
