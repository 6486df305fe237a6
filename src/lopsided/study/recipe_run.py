"""A recipe at a scale: its arms trained, its results read, its claims decided, its figure made."""

from __future__ import annotations

import math
import threading
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from lopsided.claims.deciding import decide
from lopsided.claims.recipe import FILE_MODULE, Recipe
from lopsided.core.arms import SCALES, ArmSpec, ScaleName
from lopsided.core.errors import InputError, MissingData, unknown
from lopsided.core.execution import DEFAULT, Execution
from lopsided.core.progress import Progress
from lopsided.core.spec import Spec
from lopsided.core.telling import tell
from lopsided.results.stored import Results, load
from lopsided.results.sweeps import beyond
from lopsided.stats.verdict import Claim
from lopsided.store.leases import Leases
from lopsided.store.parts import Store, job_name
from lopsided.study import manifest
from lopsided.study.file_owner import OF_THIS_PACKAGE, OwnFile
from lopsided.study.manifest import Manifest
from lopsided.study.named_metrics import check_metrics
from lopsided.study.overrides import apply, changed, require_other_names
from lopsided.study.own_code import code_versions
from lopsided.study.plan_key import arms_hash, plan_key, tests_of
from lopsided.study.targets import find, plain_curves
from lopsided.work.done import Done, Request, Runner
from lopsided.work.jobs import cut, wanted_members
from lopsided.work.rows import member_id
from lopsided.work.worker import train

if TYPE_CHECKING:
    from lopsided.figures.panels import Figure


MOST_ROUNDS = 6
"""Times that a sweep is extended."""


@dataclass(frozen=True)
class RecipeRun:
    """A recipe at a scale, with changes by hand."""

    recipe: Recipe
    scale: ScaleName
    arms: Mapping[str, Spec]
    seeds: int
    overrides: tuple[str, ...] = ()
    rounds: tuple[Mapping[str, ArmSpec], ...] = ()
    """Arms that were added to sweeps whose best settings lay at an end, round by round."""
    file: OwnFile = OF_THIS_PACKAGE
    """The recipe's own file, if it has one."""
    drawn: bool = False
    """Whether a key drew the changes (`study.neighbours`), and nobody made them by hand."""

    @property
    def planned(self) -> dict[str, ArmSpec]:
        """Arms with their coordinates, those of the rounds included."""
        found = dict(self.recipe.arms_at(self.scale))
        for added in self.rounds:
            found.update(added)
        return found

    @property
    def base(self) -> dict[str, Spec]:
        """The recipe's own arms, without those of the rounds."""
        return {name: spec for name, spec in self.arms.items() if not any(name in added for added in self.rounds)}

    @property
    def plan_key(self) -> str:
        """Digest of what a plan of `--until-decided` has to be made for."""
        return plan_key(arms_hash(self.base), [each.claim for each in self.recipe.claims], tests_of(self.recipe))

    @property
    def label(self) -> str:
        """Name of the manifest and the report's folder."""
        return manifest.label_of(self.recipe.name, self.scale, self.overrides)

    @property
    def title(self) -> str:
        """The run as people call it."""
        specs = (spec.model_dump(mode="json") for spec in self.base.values()) if self.overrides else ()
        return manifest.title_of(self.recipe.name, self.scale, self.overrides, specs)

    def require_own_file(self, store: Store) -> None:
        """Raise `InputError` where the folder has a run of another recipe file of this name."""
        self.file.require_own(store, self.recipe.name, self.label)

    def train(
        self,
        store: Store,
        progress: Callable[[Progress], None] | None = None,
        stop: threading.Event | None = None,
        execution: Execution = DEFAULT,
        runner: Runner = train,
    ) -> Done:
        """Write the manifest and train what is missing, then what sweeps lack whose best settings lie at an end. Jobs
        are cut as the folder's manifest says, if it has one. `runner` trains: here, or elsewhere."""
        store.require_writable()
        before = manifest.read(store, self.label)
        job_size = before.job_size if before else None
        now, specs, done, jobs = self, list(self.arms.values()), Done(0, 0, 0.0, 0), []
        while specs:
            members = cut(wanted_members(specs, self.seeds), job_size)
            jobs += [(job_name(map(member_id, job)), len(job)) for job in members]
            now.note(store, jobs, job_size)
            request = Request(specs, self.seeds, store, progress, execution, stop or threading.Event(), job_size)
            done = done.plus(runner(request))
            results = now.results(store.as_of_now()) if now.may_grow else None
            longer = now.longer(results) if results is not None else None
            specs = [] if longer is None else [spec for name, spec in longer.arms.items() if name not in now.arms]
            if specs and longer is not None:
                why = "a best setting lies at the end of its sweep, or far from the next one"
                tell(f"{self.title}: {why}; added: {_added(longer)}")
            now = longer or now
        return done

    def note(self, store: Store, jobs: Sequence[tuple[str, int]] = (), job_size: int | None = None) -> None:
        """Write the manifest: which arms, seeds and jobs are asked for. Raises `InputError` where the folder
        has a run of another recipe file of this name."""
        before = manifest.read(store, self.label) if self.drawn else None
        found = Manifest(
            recipe=self.recipe.name,
            scale=self.scale,
            seeds=self.seeds,
            overrides=self.overrides,
            arms=manifest.arms_of(self.arms, self.planned),
            job_size=job_size,
            jobs=tuple(jobs),
            file=self.file.owner(store, self.recipe.name),
            text=self.file.text,
            tested=manifest.tested(store, self.label),
            metric=self.recipe.metric,
            threshold=self.recipe.threshold if math.isfinite(self.recipe.goal) else None,
            plan=self.plan_key,
            called=self.title,
            drawn=self.drawn and (before is None or before.drawn),
        )
        if not self.file.path:
            manifest.write(store, found)
            return
        with Leases(store.root).lock():  # two files of one name may begin at the same moment
            self.require_own_file(store)
            manifest.write(store, found)

    def results(self, store: Store) -> Results | None:
        """From stored rows; None while a member is missing."""
        seeds = dict.fromkeys(self.arms, self.seeds)
        return load(store, self.recipe.name, self.scale, self.arms, seeds, self.planned)

    def grown(self, store: Store) -> tuple[RecipeRun, Results | None]:
        """This run with all the rounds that the store holds, and its results; None while a member is missing."""
        now, results = self, self.results(store)
        while results is not None and (longer := now.longer(results)) is not None:
            more = longer.results(store)
            if more is None:
                break
            now, results = longer, more
        return now, results

    @property
    def may_grow(self) -> bool:
        """Whether its sweeps may be extended. (Its rows need not be read to know.)"""
        return self.scale != "smoke" and len(self.rounds) < MOST_ROUNDS and is_swept(self.recipe, self.scale)

    def longer(self, results: Results) -> RecipeRun | None:
        """This run with one round more; None where every best setting is bracketed, or after MOST_ROUNDS."""
        if not self.may_grow:
            return None
        if not (new := beyond(results, self.planned)):
            return None
        known = {spec.content_hash() for spec in self.arms.values()}
        added = {}
        for each in new:
            spec = apply(each.spec, self.overrides, each.name)
            if spec.content_hash() not in known:  # a change by hand may have set what is swept
                added[each.name] = each._replace(spec=spec)
        if not added:
            return None
        arms = {**self.arms, **{name: each.spec for name, each in added.items()}}
        return replace(self, arms=arms, rounds=(*self.rounds, added))

    def claims(self, results: Results | None) -> list[Claim]:
        """Verdicts; smoke scale, missing members and rows that do not hold what a claim needs give `not run`."""
        nothing = [s.not_run(self.recipe.name, self.scale) for s in self.recipe.claims]
        if results is None:
            return nothing
        if not self._enough(results):
            if self.recipe.claims and self.scale != "smoke":
                least = self.recipe.least_evaluations
                tell(f"{self.title}: its claims need {least} evaluations of every arm or more (evaluation.every)")
            return nothing
        if self.scale == "smoke":
            self._try_out(results)
            return nothing
        try:
            return decide(self.recipe, results)
        except MissingData as error:
            if not self.overrides:
                raise
            tell(f"{self.title}: its claims cannot be decided: {error}")
            return nothing

    def _try_out(self, results: Results) -> None:
        """Decide the claims of a recipe file at smoke scale too, so that a mistake shows before hours of training. What
        needs arms or evaluations that this scale does not have is only named."""
        if not str(getattr(self.recipe.arms, "__module__", "")).startswith(FILE_MODULE):
            return
        try:
            decide(self.recipe, results)
        except (InputError, MissingData) as error:
            tell(f"the claims cannot be decided on this scale's results: {error}")

    def marked(self, claims: Sequence[Claim], store: Store, judged: Collection[int] = ()) -> list[Claim]:
        """The claims, with how many versions of the code made the rows of the recipe's arms: those of the run's own
        seeds, and of those that looks `judged`."""
        versions = code_versions(self.arms.values(), store, {*range(self.seeds), *judged})
        return [replace(claim, code_versions=versions) for claim in claims]

    def figure(self, results: Results) -> Figure:
        """The recipe's figure of the seeds that all arms have, or plain curves where rows do not hold what the figure
        needs after a change by hand."""
        if self._enough(results):
            try:
                figure = self.recipe.figure(results.at_common_seeds())
                return figure if figure.panels else plain_curves(self.recipe.name, results)
            except MissingData:
                if not self.overrides:
                    raise
        return plain_curves(self.recipe.name, results)

    def _enough(self, results: Results) -> bool:
        """Whether every arm was evaluated as often as the recipe says that it needs."""
        return all(len(arm.steps) >= self.recipe.least_evaluations for arm in results.arms.values())


def _added(run: RecipeRun) -> str:
    """The settings of a run's last round: `lr = 2.88 (3 arms)`."""
    counts = Counter(
        f"{key} = {value:.3g}"
        for each in run.rounds[-1].values()
        for key, value in each.coordinates.items()
        if key in each.swept and isinstance(value, int | float)
    )
    return ", ".join(f"{setting} ({n} arms)" if n > 1 else setting for setting, n in sorted(counts.items()))


def prepare(target: str, scale: str, seeds: int | None, overrides: Sequence[str]) -> RecipeRun:
    """What `lopsided run TARGET` means."""
    if scale not in SCALES:
        raise unknown("scale", scale, SCALES)
    if seeds is not None and not 1 <= seeds <= 10**6:
        raise InputError(f"seeds = {seeds}: between 1 and 1000000")
    recipe = find(target)
    name = recipe.scale_named(scale)
    # A change by hand may leave claims without what they read: they are then not decided. This package's own recipes
    # are checked by tests, since the programs of some take seconds to trace.
    if not overrides and not str(getattr(recipe.arms, "__module__", "")).startswith("lopsided.recipes."):
        decided: ScaleName = "laptop" if name == "smoke" and "laptop" in recipe.scales else name
        recipe.check(decided)
        check_metrics(recipe, decided)
    arms, overrides = changed(recipe.name, recipe.specs(name), overrides)
    require_other_names(
        recipe.name, {key for arm in recipe.arms_at(name).values() for key in arm.coordinates}, overrides
    )
    return RecipeRun(recipe, name, arms, seeds or recipe.scales[name].seeds, overrides, file=OwnFile.of(target))


def is_swept(recipe: Recipe, scale: ScaleName) -> bool:
    """Whether any setting of the recipe is chosen by a sweep at this scale, as a learning rate is."""
    return any(each.swept for each in recipe.arms_at(scale).values())
