"""What `lopsided run TARGET` means: a recipe's name, a Python file that defines one, or a spec as JSON."""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Mapping
from contextlib import redirect_stdout
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from lopsided.claims.recipe import FILE_MODULE, Recipe
from lopsided.core import registry
from lopsided.core.arms import SCALES, ArmSpec, Scale
from lopsided.core.errors import InputError
from lopsided.core.json_text import parsed
from lopsided.core.shapes import has_accuracy
from lopsided.core.spec import Spec
from lopsided.core.telling import tell
from lopsided.results.stored import Results

if TYPE_CHECKING:
    from lopsided.figures.panels import Figure

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")
OF_A_RUN = re.compile(rf".*-({'|'.join(SCALES)})(-[0-9a-f]{{8}})?", re.IGNORECASE)
"""How the names of runs end (`lopsided.study.manifest.label_of`)."""
OF_A_SPEC = "spec-"
"""How the name of the run of a JSON spec begins. A recipe file may not be called so."""


def find(target: str) -> Recipe:
    """The recipe that a target names."""
    if target.endswith(".py"):
        return _from_python(Path(target))
    if target.endswith(".json"):
        return _from_json(Path(target))
    if Path(target).is_dir():
        raise InputError(f"{target!r} is a folder: give it by --out {target}, and the name of a recipe")
    if Path(target).suffix and Path(target).is_file():
        raise InputError(f"{target!r}: valid is the name of a recipe, a recipe file (.py) or a spec (.json)")
    recipes, named = registry.registered("recipe"), OF_A_RUN.fullmatch(target)
    if target not in recipes and named:
        recipe = target[: named.start(1) - 1]
        if recipe in recipes:
            raise InputError(f"{target!r} is the name of a run: give its recipe, {recipe}")
    return registry.lookup("recipe", target)


def plain_arms(name: str, arms: Mapping[str, Spec], metric: str = "", threshold: float | None = None) -> Recipe:
    """Arms without claims: a spec given as JSON, or the recorded run of a recipe that is not known here, with what that
    recipe called learned."""
    if not metric:
        rated = all(has_accuracy(spec.task.outputs) for spec in arms.values())
        metric = "test/accuracy" if rated else "test/loss"
    return Recipe(
        name=name,
        paper="none",
        figure_number="none",
        question="What do these specs learn?",
        about="Arms without claims: a spec, or a recipe file's run, of which `lopsided run FILE.py` has the claims.",
        scales=dict.fromkeys(SCALES, Scale(4, float("nan"), "unknown")),
        arms=lambda scale: [ArmSpec(spec, {"arm": name}) for name, spec in arms.items()],
        claims=[],
        figure=lambda results: plain_curves(name, results),
        metric=metric,
        threshold=threshold,
    )


def plain_curves(title: str, results: Results, metric: str = "") -> Figure:
    """Test metrics and training loss (and `metric`, what a recipe reads first) of every arm that has them, against
    samples, or steps where none are seen; where no arm has any of these, the first four numbers that there are."""
    from lopsided.figures.panels import Figure, curves

    arms = list(results.arms.values())
    axis = "samples" if all(arm.samples[-1] for arm in arms) else "steps"
    numbers = sorted({m for arm in arms for m, values in arm.values.items() if values.ndim == 2})
    usual = [m for m in (metric, "test/accuracy", "test/loss", "train/loss") if m in numbers]
    metrics = dict.fromkeys(usual or numbers[:4])
    having = {m: [arm.name for arm in arms if m in arm.values] for m in metrics}
    return Figure(title, [curves(results, m, axis, m, arms=names) for m, names in having.items() if names])


def _from_json(path: Path) -> Recipe:
    if not path.is_file():
        raise InputError(f"spec file {str(path)!r}: {'is no regular file' if path.exists() else 'not found'}")
    try:
        data = parsed(path.read_text(encoding="utf-8"), object_pairs_hook=_without_doubles)
    except (OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise InputError(f"spec file {str(path)!r}: {error}") from None
        raise InputError(f"spec file {str(path)!r}: cannot be read as JSON ({error})") from None
    try:
        spec = Spec.parse(data)
    except RecursionError:
        raise InputError(f"spec file {str(path)!r}: too deeply nested") from None
    # Two files of one name, or one that was edited, are two runs: neither report replaces the other.
    name = f"{OF_A_SPEC}{path.stem}-{spec.content_hash()[:8]}"
    _require_name(name, path)
    return plain_arms(name, {"spec": spec})


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object; a key that comes twice is a mistake, not a choice."""
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        double = next(key for key in keys if keys.count(key) > 1)
        raise InputError(f"key {double!r} is given twice")
    return found


def _from_python(path: Path) -> Recipe:
    recipe = getattr(program(path), "recipe", None)
    if not isinstance(recipe, Recipe):
        raise InputError(f"recipe file {str(path)!r}: has to define `recipe`, a lopsided.recipe.Recipe")
    _require_name(recipe.name, path)
    require_no_runs_name(recipe.name, path)
    if recipe.name.casefold() in registry.registered("recipe"):  # some disks do not tell capital letters apart
        raise InputError(
            f"recipe file {str(path)!r}: a recipe of this package is called {recipe.name!r}, and one report would "
            "replace the other; give yours another name"
        )
    return recipe


def program(path: Path, kind: str = "recipe file") -> ModuleType:
    """A Python file of somebody's, executed. Raises `InputError` if it cannot be, or ends in an error of its own."""
    if not path.is_file():
        raise InputError(f"{kind} {str(path)!r}: not found")
    if path.suffix != ".py":
        raise InputError(f"{kind} {str(path)!r}: has to be a Python file, its name ending in .py")
    tell(f"executing {path}")
    spec = importlib.util.spec_from_file_location(f"{FILE_MODULE}{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    if (folder := str(path.parent.resolve())) not in sys.path:
        sys.path.insert(0, folder)  # so that it can import its neighbours, as `python FILE` can
    try:
        with redirect_stdout(sys.stderr):  # what it prints is not what a command prints, which may be JSON
            spec.loader.exec_module(module)
    except InputError as error:
        raise InputError(f"{kind} {str(path)!r}: {error}") from None
    except (Exception, SystemExit) as error:  # somebody else's program may end in any way
        raise InputError(f"{kind} {str(path)!r}: {type(error).__name__}: {error}") from error
    return module


def _require_name(name: object, path: Path) -> None:
    """A recipe's name names files."""
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise InputError(
            f"{str(path)!r}: {str(name)[:80]!r} cannot name files; valid: at most 100 letters, digits, -, _ and ."
        )


def require_no_runs_name(name: str, path: Path) -> None:
    """Raise `InputError` for a recipe that is called like a run of another: whoever asks for `mine-laptop` would get
    either."""
    if OF_A_RUN.fullmatch(name):
        raise InputError(
            f"{str(path)!r}: {name!r} is what a run is called, a recipe's name and its scale; give the recipe a name "
            "that does not end in a scale"
        )
    if name.casefold().startswith(OF_A_SPEC):
        raise InputError(f"{str(path)!r}: {name!r} is what the run of a spec is called; give the recipe another name")
