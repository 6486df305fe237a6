"""Which arms, seeds and jobs a recipe run asked for: OUT/runs/<recipe>-<scale>.json. It holds no results."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from lopsided.core.flat import flat
from lopsided.store.files import replace_text
from lopsided.store.parts import Store
from lopsided.store.survey import MemberId
from lopsided.store.tables import ArmRow

if TYPE_CHECKING:
    from lopsided.core.arms import ArmSpec
    from lopsided.core.spec import Spec

FORMAT = 2


class Manifest(NamedTuple):
    """One recipe run."""

    recipe: str
    scale: str
    seeds: int
    overrides: tuple[str, ...]
    arms: dict[str, dict[str, Any]]
    """By name: `hash`, `spec` (its JSON) and `coordinates`, the settings in which the run's arms differ; of a recipe's
    arms also `at`, the coordinates that the recipe gives them."""
    job_size: int | None
    """Members per job at most; None: what the engine says of the spec."""
    jobs: list[tuple[str, int]]
    """Name and number of members of every job."""
    format: int = FORMAT

    @property
    def label(self) -> str:
        """Name of the manifest and of the report's folder."""
        return label_of(self.recipe, self.scale, self.overrides)

    def members(self) -> list[MemberId]:
        """Names of all members in the store."""
        return [(arm["hash"], seed) for arm in self.arms.values() for seed in range(self.seeds)]

    def rows(self) -> list[ArmRow]:
        """The run's rows of the table `arms`."""
        return [
            ArmRow(name, self.recipe, self.scale, arm["hash"], arm["coordinates"]) for name, arm in self.arms.items()
        ]


def label_of(recipe: str, scale: str, overrides: Sequence[str]) -> str:
    """Name of a run's files: recipe and scale, and a digest of changes by hand."""
    changed = hashlib.sha256("\n".join(overrides).encode()).hexdigest()[:8]
    return f"{recipe}-{scale}" + (f"-{changed}" if overrides else "")


def arms_of(arms: Mapping[str, Spec], planned: Mapping[str, ArmSpec] | None = None) -> dict[str, dict[str, Any]]:
    """The arms as a manifest writes them; `planned` has their coordinates in a recipe."""
    coordinates = differing({name: spec.model_dump(mode="json") for name, spec in arms.items()})
    return {
        name: {
            "hash": spec.content_hash(),
            "spec": json.loads(spec.canonical_json()),
            "coordinates": coordinates[name],
            **({"at": dict(planned[name].coordinates)} if planned and name in planned else {}),
        }
        for name, spec in arms.items()
    }


def differing(specs: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The settings in which specs (as JSON, by name) differ, by dotted path."""
    found = {name: flat(spec) for name, spec in specs.items()}
    keys = sorted({key for settings in found.values() for key in settings})
    differ = [key for key in keys if len({json.dumps(settings.get(key)) for settings in found.values()}) > 1]
    return {name: {key: settings.get(key) for key in differ} for name, settings in found.items()}


def write(store: Store, manifest: Manifest) -> None:
    folder = store.root / "runs"
    folder.mkdir(exist_ok=True)
    replace_text(folder / f"{manifest.label}.json", json.dumps(manifest._asdict(), indent=1))


def read(store: Store, label: str) -> Manifest | None:
    """The manifest of that label, if there is a sound one."""
    file = store.root / "runs" / f"{label}.json"
    return _parse(file) if file.is_file() else None


def recorded(store: Store) -> list[Manifest]:
    """Runs that the folder remembers, newest last. A file that is no manifest is named and left out."""
    found = []
    for file in sorted((store.root / "runs").glob("[!.]*.json"), key=_written):
        manifest = _parse(file)
        if manifest is None:
            print(f"lopsided: {file}: no manifest of this version; left out", file=sys.stderr)
        else:
            found.append(manifest)
    return found


def _written(file: Path) -> float:
    try:
        return file.stat().st_mtime
    except OSError:
        return 0.0


def _parse(file: Path) -> Manifest | None:
    try:
        data = json.loads(file.read_text())
        if data.get("format") != FORMAT:
            return None
        data["overrides"] = tuple(map(str, data["overrides"]))
        data["jobs"] = [(str(name), int(n)) for name, n in data["jobs"]]
        manifest = Manifest(**data)
        shaped = all({"hash", "spec", "coordinates"} <= set(arm) for arm in manifest.arms.values())
        whole = isinstance(manifest.recipe, str) and isinstance(manifest.scale, str) and isinstance(manifest.seeds, int)
        return manifest if shaped and whole else None
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None
