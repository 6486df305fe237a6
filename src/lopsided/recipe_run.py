"""Running a recipe and finding its runs again: arms and seeds of a scale, changes by hand, manifests.

A manifest (OUT/runs/<recipe>-<scale>.json) remembers which arms and seeds a recipe run asked for; it holds no results.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lopsided.core import registry
from lopsided.core.errors import InputError, unknown
from lopsided.core.protocols import judged
from lopsided.core.recipe import SCALES, Recipe, Scale, ScaleName
from lopsided.core.spec import Spec
from lopsided.run import Done, Progress, run
from lopsided.stats.verdict import Claim
from lopsided.store.parts import Store
from lopsided.store.results import Results, load

if TYPE_CHECKING:
    from lopsided.report.panels import Figure


@dataclass(frozen=True)
class RecipeRun:
    """A recipe at a scale, with changes by hand."""

    recipe: Recipe
    scale: ScaleName
    arms: Mapping[str, Spec]
    seeds: int
    overrides: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """Name of the manifest and the report's folder."""
        changed = hashlib.sha256("\n".join(self.overrides).encode()).hexdigest()[:8]
        return f"{self.recipe.name}-{self.scale}" + (f"-{changed}" if self.overrides else "")

    def train(
        self,
        store: Store,
        progress: Callable[[Progress], None] | None = None,
        stop: threading.Event | None = None,
    ) -> Done:
        """Write the manifest and train what is missing."""
        store.require_writable()
        self._remember(store)
        return run(list(self.arms.values()), self.seeds, store, progress, stop=stop)

    def members(self) -> list[tuple[str, int]]:
        """Names of all members in the store."""
        return [
            (digest, s) for spec in self.arms.values() for digest in [spec.content_hash()] for s in range(self.seeds)
        ]

    def _remember(self, store: Store) -> None:
        folder = store.root / "runs"
        folder.mkdir(exist_ok=True)
        data = {
            "recipe": self.recipe.name,
            "scale": self.scale,
            "seeds": self.seeds,
            "overrides": list(self.overrides),
            "arms": {name: spec.model_dump(mode="json") for name, spec in self.arms.items()},
        }
        aside = folder / f".{self.label}.{os.getpid()}"
        aside.write_text(json.dumps(data, indent=1))
        aside.replace(folder / f"{self.label}.json")

    def results(self, store: Store) -> Results | None:
        """From stored rows; None while a member is missing."""
        return load(store, self.recipe.name, self.scale, self.arms, dict.fromkeys(self.arms, self.seeds))

    def claims(self, results: Results | None) -> list[Claim]:
        """Verdicts; smoke scale and missing members give `not run`."""
        nothing = [s.not_run(self.recipe.name, self.scale) for s in self.recipe.statements()]
        if results is None or self.scale == "smoke":
            return nothing
        try:
            return self.recipe.claims(results)
        except (ValueError, LookupError, ArithmeticError):
            if not self.overrides:
                raise
            return nothing  # changed by hand until there is nothing left to decide, for example two steps

    def figure(self, results: Results) -> Figure:
        """The recipe's figure, or plain curves where a change by hand left it nothing to draw."""
        try:
            return self.recipe.figure(results)
        except (ValueError, LookupError, ArithmeticError):
            if not self.overrides:
                raise
            return plain_curves(self.recipe.name, results)


def prepare(target: str, scale: str, seeds: int | None, overrides: Sequence[str]) -> RecipeRun:
    """What `lopsided run TARGET` means: a recipe's name, a Python file that defines one, or a spec as JSON."""
    if scale not in SCALES:
        raise unknown("scale", scale, SCALES)
    if seeds is not None and not 1 <= seeds <= 10**6:
        raise InputError(f"seeds = {seeds}: between 1 and 1000000")
    recipe = find(target)
    if scale not in recipe.scales:
        raise unknown(f"scale of {recipe.name}", scale, recipe.scales)
    plain: Mapping[str, Spec] = recipe.specs(scale)  # type: ignore[arg-type]
    arms = {name: _changed(spec, overrides) for name, spec in plain.items()} if overrides else plain
    if overrides:
        _keep_apart(recipe.name, plain, overrides)
        _still_different(plain, arms, overrides)
    return RecipeRun(recipe, scale, arms, seeds or recipe.scales[scale].seeds, tuple(overrides))  # type: ignore[index]


def find(target: str) -> Recipe:
    """The recipe that a target names."""
    if target.endswith(".py"):
        return _from_python(Path(target))
    if target.endswith(".json"):
        return SpecFile(Path(target))
    return registry.lookup("recipe", target)()


def recorded(store: Store) -> list[RecipeRun]:
    """Runs that the folder remembers, newest last. A recipe that no longer exists is left out."""
    found = []
    files = sorted((store.root / "runs").glob("*.json"), key=lambda p: p.stat().st_mtime)
    for file in files:
        data = json.loads(file.read_text())
        if data["recipe"] in registry.registered("recipe"):
            recipe = find(data["recipe"])
        elif data["recipe"].startswith(SpecFile.prefix):
            recipe = SpecFile.of(data["recipe"], Spec.parse(data["arms"]["spec"]))
        else:
            continue
        arms = {name: Spec.parse(spec) for name, spec in data["arms"].items()}
        found.append(RecipeRun(recipe, data["scale"], arms, data["seeds"], tuple(data["overrides"])))
    return found


def latest(store: Store, recipe: Recipe) -> RecipeRun | None:
    """The largest-scale unchanged run of a recipe whose arms are still those of the recipe."""
    for scale in reversed(SCALES):
        for run_ in recorded(store):
            if run_.recipe.name == recipe.name and run_.scale == scale and not run_.overrides:
                current = recipe.specs(scale)
                if scale != "smoke" and dict(run_.arms) == current:
                    return run_
    return None


def _changed(spec: Spec, overrides: Sequence[str]) -> Spec:
    data = spec.model_dump(mode="json")
    for override in overrides:
        path, equals, text = override.partition("=")
        if not equals or not path:
            raise InputError(f"--set {override!r}: valid is key=value, for example optimizer.lr=0.01")
        try:
            value = json.loads(text)
        except json.JSONDecodeError:
            value = text
        *parents, last = path.split(".")
        place: Any = data
        for parent in parents:
            place = _entry(place, parent, path)
        _entry(place, last, path)
        if isinstance(place, list):
            place[int(last)] = value
        else:
            place[last] = value
    return Spec.parse(data)


def _keep_apart(recipe: str, arms: Mapping[str, Spec], overrides: Sequence[str]) -> None:
    """Refuse to set what a recipe compares: its claims name arms by those settings of task and model."""
    specs = [spec.model_dump(mode="json") for spec in arms.values()]
    for override in overrides:
        part, _, key = override.partition("=")[0].partition(".")
        if part in ("task", "model") and len({json.dumps(spec[part].get(key)) for spec in specs}) > 1:
            raise InputError(f"--set {part}.{key}: recipe {recipe!r} compares arms that differ in it")


def _still_different(before: Mapping[str, Spec], after: Mapping[str, Spec], overrides: Sequence[str]) -> None:
    """Refuse changes that make arms equal, or take away the rule that says when a member has learned."""
    distinct = [len({spec.content_hash() for spec in arms.values()}) for arms in (before, after)]
    if distinct[1] < distinct[0]:
        raise InputError(f"--set {' '.join(overrides)}: the recipe compares arms that differ in it; now they would not")
    if any(a.until is not None and b.until is None for a, b in zip(before.values(), after.values(), strict=True)):
        raise InputError("--set until: the recipe says by it which members have learned")


def _entry(place: Any, key: str, path: str) -> Any:
    if isinstance(place, dict) and key in place:
        return place[key]
    if isinstance(place, list) and key.isdigit() and int(key) < len(place):
        return place[int(key)]
    valid = place if isinstance(place, dict) else map(str, range(len(place))) if isinstance(place, list) else ()
    raise InputError(f"--set {path}: {unknown('key', key, valid)}")


def _from_python(path: Path) -> Recipe:
    if not path.is_file():
        raise InputError(f"recipe file {str(path)!r}: not found")
    print(f"lopsided: executing {path} (a recipe file is a program)", file=sys.stderr)
    spec = importlib.util.spec_from_file_location(f"lopsided_recipe_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    classes = [
        c for c in vars(module).values() if isinstance(c, type) and issubclass(c, Recipe) and c.__module__ == spec.name
    ]
    if len(classes) != 1:
        raise InputError(f"recipe file {str(path)!r}: defines {len(classes)} recipes, exactly one is valid")
    return classes[0]()


class SpecFile(Recipe):
    """A spec given as JSON: one arm, no claims."""

    prefix = "spec-"
    paper = "none"
    figure_number = "none"
    question = "What does this spec learn?"
    threshold = 0.9

    def __init__(self, path: Path):
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
            raise InputError(f"spec file {str(path)!r}: cannot be read as JSON ({error})") from None
        self._set(self.prefix + path.stem, Spec.parse(data))

    @classmethod
    def of(cls, name: str, spec: Spec) -> SpecFile:
        """The same without a file."""
        made = cls.__new__(cls)
        made._set(name, spec)
        return made

    def _set(self, name: str, spec: Spec) -> None:
        self.name = name  # type: ignore[misc]
        self._spec = spec
        if not judged(spec.task.outputs):
            self.metric, self.threshold = "test/loss", float("inf")  # type: ignore[misc]
        self.scales = dict.fromkeys(SCALES, Scale(4, float("nan"), "unknown"))  # type: ignore[misc]

    def specs(self, scale: ScaleName) -> dict[str, Spec]:
        return {"spec": self._spec}

    def statements(self) -> list[Any]:
        return []

    def claims(self, results: Results) -> list[Any]:
        return []

    def figure(self, results: Results) -> Any:
        return plain_curves(self.name, results)


def plain_curves(title: str, results: Results) -> Figure:
    """Test metrics and training loss of every arm, against samples, or steps where none are seen."""
    from lopsided.report.panels import Figure, curves

    arms = list(results.arms.values())
    axis = "samples" if all(arm.samples[-1] for arm in arms) else "steps"
    found = [m for m in ("test/accuracy", "test/loss", "train/loss") if all(m in arm.values for arm in arms)]
    return Figure(title, [curves(results, m, axis, m) for m in found])
