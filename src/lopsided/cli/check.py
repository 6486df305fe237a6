"""`lopsided check` and `lopsided diff`: verdicts from stored rows, and how far their setting is from the paper's."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lopsided.cli.options import OUT, Json, Out, existing
from lopsided.cli.other_runs import OtherRun, other_runs, say_other_runs
from lopsided.core.errors import InputError, StoreError
from lopsided.core.telling import printable, tell
from lopsided.report.as_json import print_json

if TYPE_CHECKING:
    from lopsided.claims.recipe import Recipe
    from lopsided.stats.verdict import Claim
    from lopsided.store.parts import Store
    from lopsided.study.checking import Checked
    from lopsided.study.manifest import Manifest


FEW = 6
"""Fewer recipes are decided by this process alone: another one needs 2.3 s to start, a small recipe 0.03 s."""
MOST_PROCESSES = 4
"""Processes at most. One that decides the largest recipes takes 1.6 GB."""


def check(*recipes: str, out: Out = OUT, rows: Path | None = None, as_json: Json = False) -> None:
    """Every claim: the paper's number, what was measured, and the verdict from stored rows.

    Parameters
    ----------
    recipes
        Names of recipes, or a folder, as --out; all of them if left out.
    rows
        A folder of published rows, NAME.parquet each (`results` in a checkout), in place of a store: their claims are
        decided again, without training.
    """
    if rows is not None:
        _published(rows, recipes, as_json)
        return
    from lopsided.core.registry import registered
    from lopsided.study.manifest import recorded
    from lopsided.study.own_code import say_rows_of_the_first_rule
    from lopsided.study.targets import find

    # `lopsided check DIR`, as the other commands have it.
    if out == OUT and len(recipes) == 1 and Path(recipes[0]).is_dir() and recipes[0] not in registered("recipe"):
        recipes, out = (), Path(recipes[0])
    if not (out / "parts").is_dir():
        for name in recipes:
            find(name)  # a mistyped name first
    store = existing(out)
    store.require_readable()
    manifests, claims, needed, runs, specs = recorded(store), [], [], {}, []
    _require_known(recipes, manifests, registered("recipe"))
    asked = [find(name) for name in recipes or registered("recipe")]
    for recipe in asked:
        found, run = _decided(recipe, manifests, store, as_json)
        claims += found.claims
        needed += found.needed
        runs |= run
        specs += found.run.arms.values() if found.run is not None else ()
    say_rows_of_the_first_rule(specs, store)
    others = other_runs(recipes, manifests, asked, store)
    if as_json:
        print_json(_document(claims, needed, runs, others))
        return
    from lopsided.report.terminal import claim_table

    which = [i for i, c in enumerate(claims) if recipes or c.verdict != "not run"]
    shown = [claims[i] for i in which]
    if shown:
        claim_table(shown, needed=[needed[i] for i in which])
    for recipe in asked if recipes else ():
        if not recipe.claims:
            print(f"{recipe.name} makes no claims; `lopsided report` shows its curves")
    if waiting := len(claims) - len(shown):
        print(f"{waiting} claims of {len(asked) - len(runs)} recipes are not run yet; `lopsided check NAME` shows them")
    say_other_runs(others)
    if not recipes:
        _say_others(manifests, {recipe.name for recipe in asked}, store)


def _require_known(names: Sequence[str], manifests: Sequence[Manifest], known: Collection[str]) -> None:
    """Raise `InputError` for the name of a recipe file's run, whose claims only the file has."""
    own = {each.recipe for each in manifests if each.file} - set(known)
    if asked := [name for name in names if name in own]:
        said = "from a recipe file, which has the claims; `lopsided check FILE.py` shows them"
        raise InputError(f"{', '.join(asked)}: {said}")


def _decided(
    recipe: Recipe, manifests: Sequence[Manifest], store: Store, as_json: bool
) -> tuple[Checked, dict[str, Any]]:
    """A recipe's claims; and by its name, if it was run, what `--json` says of the run."""
    from lopsided.study.checking import claims_of
    from lopsided.study.own_code import warn_of_older_rows
    from lopsided.study.reports import made

    found = claims_of(recipe, manifests, store)
    if found.problem:
        tell(f"{recipe.name}: looks of --until-decided passed over: {found.problem}")
    if found.waiting:
        tell(f"{recipe.name}: {found.waiting}")
    if found.run is None:
        if said := _of_other_specs(recipe, manifests):
            tell(said)
        return found, {}
    warn_of_older_rows(found.run.arms.values(), store, range(found.run.seeds))
    said = {"scale": found.run.scale, "seeds": found.seeds, "made": made(store, found.run) if as_json else []}
    return found, {recipe.name: said}


def _of_other_specs(recipe: Recipe, manifests: Sequence[Manifest]) -> str:
    """A sentence if the folder has runs of the recipe, and none of the arms that it has now; otherwise ""."""
    from lopsided.study.remembered import latest

    unchanged = [each for each in manifests if each.recipe == recipe.name and not each.overrides]
    own = [each.title for each in unchanged if each.scale != "smoke"]  # which has no verdicts
    if not own or latest(manifests, recipe) is not None:
        return ""
    return f"{recipe.name}: {', '.join(own)} of this folder has other specs than the recipe has now"


def _document(
    claims: Sequence[Claim], needed: Sequence[int | None], runs: dict[str, Any], others: Sequence[OtherRun] = ()
) -> dict[str, Any]:
    from lopsided.claims.counts import counts

    every = [{**c.as_json(), "seeds_needed": n} for c, n in zip(claims, needed, strict=True)]
    said = {"others": [each._asdict() for each in others]} if others else {}
    return {"claims": every, "counts": counts(claims).as_json(), "runs": runs, **said}


def document_of(names: Sequence[str], out: Path, rows: Path | None) -> dict[str, Any]:
    """What `lopsided check --json` prints of a store, or of published rows."""
    from lopsided.core.registry import registered
    from lopsided.study.manifest import recorded
    from lopsided.study.targets import find

    if rows is not None:
        return _document(*_published_claims(rows, names, True))
    store, claims, needed, runs = existing(out), [], [], {}
    store.require_readable()
    manifests = recorded(store)
    for recipe in [find(name) for name in names or registered("recipe")]:
        found, run = _decided(recipe, manifests, store, True)
        claims += found.claims
        needed += found.needed
        runs |= run
    return _document(claims, needed, runs)


def _published(folder: Path, names: Sequence[str], as_json: bool) -> None:
    from lopsided.core.registry import registered
    from lopsided.report.terminal import claim_table

    claims, needed, runs = _published_claims(folder, names, as_json)
    if as_json:
        print_json(_document(claims, needed, runs))
        return
    claim_table(claims, needed=needed)
    if not names:
        of = f"{len({c.recipe for c in claims})} of {len(registered('recipe'))}"
        print(f"Of {of} recipes; the rows of the others are not in this folder")


def _published_claims(
    folder: Path, names: Sequence[str], as_json: bool
) -> tuple[list[Claim], list[int | None], dict[str, Any]]:
    from lopsided.study.processes import Lost, processes
    from lopsided.study.publishing import published_files

    files = published_files(folder, names)
    tell(f"deciding the claims of {len(files)} recipes again from their rows, a second or two each")
    largest_first = sorted(files, key=lambda name: files[name].stat().st_size, reverse=True)
    ask = partial(_decided_again, folder, as_json=as_json)
    if len(files) < FEW:
        every = dict(zip(files, map(ask, files), strict=True))
    else:
        try:
            with processes(min(os.cpu_count() or 1, MOST_PROCESSES)) as others:
                every = dict(zip(largest_first, others.answers(ask, largest_first), strict=True))
        except Lost as error:
            raise StoreError(f"{error}; name fewer recipes at once") from None
    claims, needed, runs = [], [], {}
    for name in files:
        of_one, needed_by_one, run = every[name]
        claims += of_one
        needed += needed_by_one
        runs |= run
    return claims, needed, runs


def _decided_again(
    folder: Path, name: str, as_json: bool
) -> tuple[Sequence[Claim], Sequence[int | None], dict[str, Any]]:
    """One recipe's claims from its published rows, the seeds that open ones need, and what `--json` says of the run."""
    from lopsided.study.manifest import recorded
    from lopsided.study.publishing import published
    from lopsided.study.targets import find

    with published(folder, [name]) as stores:
        found, run = _decided(find(name), recorded(stores[name]), stores[name], as_json)
        return found.claims, found.needed, run


def _say_others(manifests: Sequence[Manifest], known: set[str], store: Store) -> None:
    """Say what else the folder has: runs of recipe files and of specs, and members of Python programs."""
    from lopsided.study.others import OTHERS, WHOSE, members, members_of
    from lopsided.study.targets import OF_A_SPEC

    complete = store.complete()
    own = sorted({each.recipe for each in manifests} - known)
    recipes = [name for name in own if not name.startswith(OF_A_SPEC)]
    if recipes:
        print(f"From recipe files: {printable(', '.join(recipes))}; `lopsided check FILE.py` shows their claims")
    if len(own) > len(recipes):
        specs = len(own) - len(recipes)
        made = "1 spec, which makes no claims" if specs == 1 else f"{specs} specs, which make no claims"
        print(f"{made}; `lopsided report` shows the curves")
    if others := members(store, members_of(store, manifests)).get(OTHERS):
        whole = len(set(others) & set(complete))
        unfinished = len(others) - whole
        which = f"the {whole} of them that are complete ({unfinished} unfinished)" if unfinished else "them"
        print(f"{len(others)} {WHOSE}; lop.load(FOLDER, recipe={OTHERS!r}) has {which}")


def diff(recipe: str, *, scale: str = "laptop", as_json: Json = False) -> None:
    """How far a recipe's setting is from the paper's own: every field in which their specs differ.

    Parameters
    ----------
    recipe
        Name of a recipe, or FILE.py.
    scale
        Compared with the scale `paper`.
    """
    from dataclasses import asdict

    from lopsided.claims.setting import apart
    from lopsided.report.terminal import difference_table
    from lopsided.study.targets import find

    if recipe.endswith(".json"):
        raise InputError(f"diff: {recipe} is a spec, which has no scales; valid is the name of a recipe, or FILE.py")
    asked = find(recipe)
    if "paper" not in asked.scales:
        raise InputError(f"diff: {asked.name} has no scale 'paper'; it has {', '.join(asked.scales)}")
    rows = apart(asked.arms_at(asked.scale_named(scale)), asked.arms_at("paper"))
    if as_json:
        found = [{**asdict(row.difference), "arms": list(row.arms) or None} for row in rows]
        print_json(
            {
                "recipe": asked.name,
                "scale": scale,
                "differences": found,
                "assumptions": [each._asdict() for each in asked.assumptions],
            }
        )
        return
    difference_table(asked.name, scale, rows, asked.assumptions)
