"""How members are cut into jobs: a pure function of the members and a size, the same on every machine."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence

from lopsided.core.engine import Member
from lopsided.core.registry import engine_of
from lopsided.core.shapes import Tokens, Vectors
from lopsided.core.spec import Spec
from lopsided.engines.members import program_key
from lopsided.engines.work import is_adaptive, program_of
from lopsided.work.rows import member_id

STEPS_OF_A_STRETCH = 100
"""Steps that an adaptive integrator takes between two evaluations. A guess: it decides only which job a worker takes
first, and how much of the time left a job counts for beside jobs of other kinds."""


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


def effort(members: Sequence[Member], steps: int | None = None) -> float:
    """What the time left is judged by: parameters x positions x samples (or steps, where a plan draws no samples) of
    the members' first `steps` steps, to which operations are proportional. Where an integrator chooses its steps, each
    stretch between evaluations counts alike. Predictions take none."""
    by_spec = Counter(id(m.spec) for m in members)
    specs = {id(m.spec): m.spec for m in members}
    return float(sum(by_spec[i] * _effort(spec, spec.steps if steps is None else steps) for i, spec in specs.items()))


def _effort(spec: Spec, steps: int) -> float:
    program = program_of(spec)
    if program is None:
        return 0.0
    if is_adaptive(spec):
        return program.parameters * STEPS_OF_A_STRETCH * bisect_right(spec.evaluation.points(spec.steps), steps)
    positions = spec.task.inputs.length if isinstance(spec.task.inputs, (Tokens, Vectors)) else 1
    return program.parameters * positions * (spec.plan.seen(steps) or steps)
