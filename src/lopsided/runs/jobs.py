"""How members are cut into jobs: a pure function of the members and a size, the same on every machine."""

from __future__ import annotations

from collections.abc import Sequence

from lopsided.core.engine import Member
from lopsided.core.registry import engine_of
from lopsided.core.spec import Spec
from lopsided.engines.members import program_key
from lopsided.runs.rows import member_id


def wanted_members(specs: Sequence[Spec], seeds: int | Sequence[int]) -> list[Member]:
    """Every seed of every spec, each member once."""
    every = [Member(spec, s) for spec in specs for s in (range(seeds) if isinstance(seeds, int) else seeds)]
    return list({member_id(m): m for m in every}.values())


def cut(members: Sequence[Member], size: int | None = None) -> list[list[Member]]:
    """Members that can share a compiled program, in jobs of about equal length: of at most `size` members, or of what
    the engine says of the spec, whatever the machine."""
    groups: dict[str, list[Member]] = {}
    specs = {id(member.spec): member.spec for member in members}
    names = {i: program_key(spec) for i, spec in specs.items()}  # once for a spec, not for each of its seeds
    for member in members:
        groups.setdefault(names[id(member.spec)], []).append(member)
    jobs = []
    for group in groups.values():
        most = size or engine_of(group[0].spec).members_per_job(group[0].spec)
        number = -(-len(group) // most)
        length = -(-len(group) // number)
        jobs += [group[i : i + length] for i in range(0, len(group), length)]
    return jobs
