"""Which versions of the code made a folder's rows: of the present one, of earlier ones, of several."""

from __future__ import annotations

from collections.abc import Container, Iterable

from lopsided.core.code import VERSION, code_digests, outside
from lopsided.core.spec import Spec
from lopsided.core.telling import tell
from lopsided.store.parts import Store


def code_versions(specs: Iterable[Spec], store: Store, seeds: Container[int] | None = None) -> int:
    """How many versions of the code made the rows of these specs, at least; of some `seeds`, or of all.

    A digest is of what one spec computes, so that two arms of one version may have two digests. Rows of several
    digests of one spec are of several versions, and so are rows of two specs of which one is as the present code makes
    it and the other is not.
    """
    # Rows do not keep the code of their time, so that "earlier" is all that can be said of two digests of two specs.
    now = {spec.content_hash(): spec for spec in specs}
    made = digests_of(now, store, seeds)
    if not made:
        return 1
    most, present = max(len(codes) for codes in made.values()), code_digests(now[spec] for spec in made)
    return max(most, len({_version(code, present[spec]) for spec, codes in made.items() for code in codes}))


def digests_of(names: Container[str], store: Store, seeds: Container[int] | None = None) -> dict[str, set[str]]:
    """The digests of the code that made rows of these seeds, by the content hash of those of `names` that have any."""
    made: dict[str, set[str]] = {}
    for part in store.parts():
        for spec, its in part.seeds.items():
            if spec in names and (seeds is None or any(seed in seeds for seed in its)):
                made.setdefault(spec, set()).add(part.code_of(spec))
    return made


def _version(code: str, present: str) -> str:
    """What a digest says of the version that made a spec's rows. Digests of the first rule are of the whole package."""
    if not code.startswith(VERSION):
        return code
    return "now" if code == present else "earlier"


def say_rows_of_the_first_rule(specs: Iterable[Spec], store: Store) -> None:
    """Say on stderr how many members have a digest of the rule before 2026-11-27, which changed with every comment."""
    ours = {spec.content_hash() for spec in specs}
    made = [part for part in store.parts() if not part.code.startswith(VERSION)]
    members = {(spec, seed) for part in made for spec, seeds in part.seeds.items() if spec in ours for seed in seeds}
    if members:
        tell(
            f"{len(members)} members in {str(store.root)!r} have digests of code of the rule before "
            "2026-11-27; whether what computes them has changed since cannot be told"
        )


def warn_of_older_rows(specs: Iterable[Spec], store: Store, seeds: Container[int] | None = None) -> None:
    """Say on stderr how many trained members of these specs (of these `seeds`, or of all) were made by another version
    of the code than the present one. Only specs with parts from outside this package count: whoever changes a task of
    their own expects new numbers."""
    own = {spec.content_hash(): spec for spec in specs if outside(spec)}
    if not own:
        return
    survey = store.survey()
    code = {(part.job, spec): part.code_of(spec) for part in survey.good if part.final for spec in part.seeds}
    now = code_digests(own.values())
    older = [
        name
        for (name, seed), job in survey.complete.items()
        if name in own and (seeds is None or seed in seeds) and code[job, name] != now[name]
    ]
    if older:
        files = sorted({file for name in set(older) for file in outside(own[name])})
        what = (
            f"{len(older)} members in {str(store.root)!r} were trained before {' or '.join(files)} or lopsided itself"
        )
        left = "changed; their rows stay as they are. To train them anew, take another folder (--out)"
        tell(f"{what} {left}")


def mixed_text(specs: Iterable[Spec], store: Store, seeds: Container[int] | None = None) -> str:
    """What to say where rows of several versions of the code are shown or compared; empty where they are of one."""
    return versions_text(code_versions(specs, store, seeds))


def versions_text(versions: int) -> str:
    """The sentence about rows of that many versions; empty for one."""
    if versions < 2:
        return ""
    return (
        f"These rows come from {versions} versions of the code; what is compared may differ in that (`members` has a "
        "column `code`). To train them anew, take another folder"
    )
