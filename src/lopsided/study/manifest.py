"""Which arms, seeds and jobs a recipe run asked for: OUT/runs/<recipe>-<scale>.json. It holds no results."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, model_validator

from lopsided.core.flat import flat
from lopsided.core.telling import tell
from lopsided.store import records
from lopsided.store.files import replace_text
from lopsided.store.parts import Store
from lopsided.store.paths import folder_in
from lopsided.store.records import LONGEST, Hash, Name, StrictRecord
from lopsided.store.survey import MemberId
from lopsided.store.tables import ArmRow
from lopsided.study import looks
from lopsided.study.changes import change_of

if TYPE_CHECKING:
    from lopsided.core.arms import ArmSpec
    from lopsided.core.spec import Spec

LOOKS = ", looks"
"""What a run's name ends with where the seeds that judge its claims are meant."""
EDITED = " (of an earlier text of the file)"
"""What is said of a run whose recipe file was edited, and has run again."""
FORMAT = 2
"""Format of a manifest."""
MOST_MEMBERS = 5 * 10**6
"""Members of a run, at most: a list of them takes 0.6 GB. The largest recipe has 1 million with 64 seeds."""


class ArmRecord(StrictRecord):
    """One arm of a run."""

    hash: Hash
    spec: dict[str, Any]
    """JSON."""
    coordinates: dict[str, Any]
    """The settings in which the run's arms differ."""
    at: dict[str, Any] | None = None
    """The coordinates that a recipe gives the arm."""


class Manifest(StrictRecord):
    """One recipe run."""

    recipe: Name
    scale: Name
    seeds: Annotated[int, Field(ge=1, le=LONGEST)]
    overrides: tuple[str, ...]
    arms: dict[str, ArmRecord]
    """By name."""
    job_size: int | None
    """Members per job at most; None: what the engine says of the spec."""
    jobs: tuple[tuple[Hash, int], ...]
    """Name and number of members of every job."""
    file: str = ""
    """Digest of the path of the recipe's file; empty for a recipe of this package. (The path would say who somebody
    is.)"""
    text: str = ""
    """Digest of what is in that file: a project that is moved, or copied, goes on."""
    tested: Annotated[int, Field(ge=0, le=LONGEST)] = 0
    """The most seeds at which the run's claims were tested before."""
    metric: str = ""
    """What the recipe reads of a run first; empty: accuracy, or the loss where there is none."""
    threshold: float | None = None
    """Value of it at which a member has learned, where the recipe says one."""
    plan: str = ""
    """Digest of what a plan of `--until-decided` has to be made for (`plan_key`); empty in manifests of before
    2026-11-29."""
    called: str = ""
    """The run as people call it; empty in older manifests, whose `title` is made of the arms."""
    drawn: bool = False
    """Whether a key drew what was changed (`--neighbours`), and nobody did it by hand."""
    format: Literal[2] = FORMAT

    @property
    def stem(self) -> str:
        return self.label

    @model_validator(mode="after")
    def _can_be_listed(self) -> Manifest:
        """Refuse a manifest with more members than a reader can list, or with the name of another recipe's run, which
        readers would then find by it."""
        if len(self.arms) * self.seeds > MOST_MEMBERS:
            raise ValueError(f"{len(self.arms)} arms of {self.seeds} seeds: more than {MOST_MEMBERS:,} members")
        if self.called and not self.called.startswith(self.recipe):
            raise ValueError(f"a run of {self.recipe!r} is called {self.called!r}")
        return self

    @property
    def label(self) -> str:
        """Name of the manifest and of the report's folder."""
        return label_of(self.recipe, self.scale, self.overrides)

    @property
    def title(self) -> str:
        """The run as people call it: what was changed by hand, not a digest of it."""
        # Specs are stored without defaults, so that a title made of them may not see two fields of one last word.
        return self.called or title_of(
            self.recipe, self.scale, self.overrides, (arm.spec for arm in self.arms.values())
        )

    @property
    def hashes(self) -> dict[str, str]:
        """Content hashes of the arms, by name."""
        return {name: arm.hash for name, arm in self.arms.items()}

    def members(self) -> list[MemberId]:
        """Names of all members in the store."""
        return [(arm.hash, seed) for arm in self.arms.values() for seed in range(self.seeds)]

    def rows(self, store: Store | None = None) -> list[ArmRow]:
        """The run's rows of the table `arms`. `store`: where its looks, if any, are planned."""
        plan = None if store is None else looks.plan_in_force(store, self.label, self.plan)
        judged = {} if store is None or plan is None else looks.judged_of(store, plan, self.label, self.hashes)
        return [
            ArmRow(
                arm=name,
                recipe=self.recipe,
                scale=self.scale,
                run=self.label,
                changes=self.overrides,
                seeds=self.seeds,
                spec=arm.hash,
                coordinates=arm.coordinates,
                judged_from=judged[name].start if name in judged else 0,
                judged_to=judged[name].stop if name in judged else 0,
            )
            for name, arm in self.arms.items()
        ]


def label_of(recipe: str, scale: str, overrides: Sequence[str]) -> str:
    """Name of a run's files: recipe and scale, and a digest of changes by hand."""
    changed = hashlib.sha256("\n".join(overrides).encode()).hexdigest()[:8]
    return f"{recipe}-{scale}" + (f"-{changed}" if overrides else "")


def title_of(recipe: str, scale: str, overrides: Sequence[str], specs: Iterable[Mapping[str, Any]]) -> str:
    """Name of a run for people: recipe and scale, and what was changed by hand. `specs` are those of its arms, as
    JSON with all defaults: a field whose last word several fields have is named whole."""
    fields = {field for spec in specs for field in flat(spec)} if overrides else ()
    words = Counter(field.rpartition(".")[2] for field in fields)
    changes = map(change_of, overrides)
    said = (each.named(each.word if words[each.word] < 2 else each.field) for each in changes)
    return ", ".join([recipe if scale == "laptop" and overrides else f"{recipe}-{scale}", *said])


def arms_of(arms: Mapping[str, Spec], planned: Mapping[str, ArmSpec] | None = None) -> dict[str, ArmRecord]:
    """The arms as a manifest writes them; `planned` has their coordinates in a recipe."""
    coordinates = differing({name: spec.model_dump(mode="json") for name, spec in arms.items()})
    return {
        name: ArmRecord(
            hash=spec.content_hash(),
            spec=json.loads(spec.canonical_json()),
            coordinates=coordinates[name],
            at=dict(planned[name].coordinates) if planned and name in planned else None,
        )
        for name, spec in arms.items()
    }


def differing(specs: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The settings in which specs (as JSON, by name) differ, by dotted path."""
    found = {name: flat(spec) for name, spec in specs.items()}
    keys = sorted({key for settings in found.values() for key in settings})
    differ = [key for key in keys if len({json.dumps(settings.get(key)) for settings in found.values()}) > 1]
    return {name: {key: settings.get(key) for key in differ} for name, settings in found.items()}


def write(store: Store, manifest: Manifest) -> None:
    folder = folder_in(store.root, "runs")
    replace_text(folder / f"{manifest.label}.json", manifest.model_dump_json(indent=1))


def read(store: Store, label: str) -> Manifest | None:
    """The manifest of that label, if there is a sound one."""
    return records.read(store.root / "runs" / f"{label}.json", Manifest)


def judging_plan(store: Store, label: str) -> looks.LookPlan | None:
    """The plan of `--until-decided` by which a recorded run is judged; None if it has none, or passed over the one that
    the folder has."""
    found = read(store, label)
    return looks.plan_in_force(store, label, found.plan if found else "")


def of_name(store: Store, recipe: str) -> list[Manifest]:
    """Sound manifests of recipes of this name. Capital letters make no other name: on some disks they name the same
    files."""
    every = (found for _, found in records.all_of(store.root / "runs", Manifest) if found is not None)
    return [each for each in every if each.recipe.casefold() == recipe.casefold()]


def recorded(store: Store) -> list[Manifest]:
    """Runs that the folder remembers, newest last. A file that is no manifest is named and left out."""
    found = []
    for file, manifest in records.all_of(store.root / "runs", Manifest):
        if manifest is None:
            tell(f"{file}: no manifest of this version; left out")
        else:
            found.append((_written(file), manifest))
    return [manifest for _, manifest in sorted(found, key=lambda each: each[0])]


def edited(manifests: Iterable[Manifest]) -> set[str]:
    """Labels of runs whose recipe file was edited and run again later: a change by hand (`steps*=2`) was then a change
    of what the file said before. `manifests`: newest last."""
    newest = {each.recipe: each.text for each in manifests if each.file}
    return {each.label for each in manifests if each.file and each.text != newest[each.recipe]}


def titles(manifests: Sequence[Manifest]) -> dict[str, str]:
    """What a folder's runs are called beside one another, by label."""
    old = edited(manifests)
    return {each.label: each.title + (EDITED if each.label in old else "") for each in manifests}


def called(runs: Iterable[str], manifests: Sequence[Manifest]) -> tuple[dict[str, str], dict[str, list[str]]]:
    """What `status` calls a folder's runs and their looks (`RUN, look 2 of 3, 1 open`), and what was changed by hand,
    both by name. No recipe's name has a comma."""
    names, changes = titles(manifests), {each.label: list(each.overrides) for each in manifests}
    labels = {run: run.partition(",")[0] for run in runs}
    shown = {run: names.get(label, label) + run.removeprefix(label) for run, label in labels.items()}
    return shown, {run: changes.get(label, []) for run, label in labels.items()}


def tested(store: Store, label: str) -> int:
    """The most seeds at which the claims of a run were tested so far; 0 for none."""
    before = read(store, label)
    if before is None:
        return 0
    now = before.seeds if set(before.members()) <= set(store.complete()) else 0
    return max(now, before.tested)


def looked_at(store: Store, manifests: Sequence[Manifest]) -> dict[str, list[MemberId]]:
    """The members by which looks have judged each run so far, those that chose left out, as `RUN, looks`."""
    complete, found = store.complete(), {}
    for each in manifests:
        if plan := looks.plan_in_force(store, each.label, each.plan):
            judged = looks.judged_of(store, plan, each.label, each.hashes)
            seeds = {each.hashes[name]: judged[name] for name in plan.arms if name in each.arms}
            members = [(spec, seed) for spec, seed in complete if seed in seeds.get(spec, ())]
            found |= {each.label + LOOKS: members} if members else {}
    return found


def _written(file: Path) -> float:
    try:
        return file.stat().st_mtime
    except OSError:
        return 0.0
