"""Skills found in texts, embeddings or losses, as labels that `lopsided.data.Groups` takes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from numbers import Real
from typing import Any, Literal, NamedTuple

import numpy as np

from lopsided.core.errors import InputError
from lopsided.data.describe import exponent
from lopsided.discovery.stability import ABOVE_CHANCE, SAMPLE, STABLE, Agreement, Tree, agreements, chosen
from lopsided.discovery.texts import TextSource, UnitVectors, embedded, looked_through, of_embeddings, of_texts

EXAMPLES = 3
"""Rows shown of each skill."""
FEWEST_ROWS = 40
"""Two halves of 20, the fewest points that a cluster is looked for in (`stability.FEWEST`)."""
UNKNOWN = "unknown"
MANY_VALUES = 20
"""Different numbers beyond which a column is a quantity, not a name."""


class Skill(NamedTuple):
    """A cluster."""

    name: str
    """The most telling terms of the cluster, or its number."""
    size: int
    examples: tuple[int, ...]
    """Rows nearest to the centre."""


class Discovered(NamedTuple):
    """What was found in N examples; without skills where there is no structure."""

    labels: np.ndarray
    """(N,) number of each example's skill, the largest skill first."""
    skills: tuple[Skill, ...]
    stability: tuple[Agreement, ...]
    """How well halves of the data agree, by number of skills; empty where k was given."""
    duplicates: int
    """How many texts equal an earlier one but for case, spaces and digits."""
    map: np.ndarray
    """(N, 2) coordinates to draw."""
    second: np.ndarray
    """(N,) the next nearest skill."""
    margin: np.ndarray
    """(N,) how much farther that one is, as a share of the distance to the nearest."""
    nothing: int = 0
    """Examples that say nothing (empty texts, vectors of length 0): they are the last skill, "unknown"."""

    @property
    def names(self) -> list[str]:
        """(N,) name of each example's skill."""
        return [self.skills[label].name for label in self.labels]

    @property
    def exponent(self) -> float:
        """The exponent of the power law that the sizes of what was found follow best; "unknown" is nothing found."""
        return exponent(np.array([skill.size for skill in self.found]))

    @property
    def found(self) -> tuple[Skill, ...]:
        """The skills without the last one, "unknown", of examples that say nothing, where there are any."""
        return self.skills[:-1] if self.nothing else self.skills

    @property
    def agreement(self) -> float | None:
        """Adjusted Rand index between halves at the chosen number of skills; None if k was given."""
        return next((each.of_data for each in self.stability if each.k == len(self.found)), None)

    def several(self, within: float = 0.05) -> list[list[str]]:
        """Names of each example's skill, and of the next one where that is hardly farther: for examples between."""
        names = self.names
        return [
            [name, self.skills[other].name] if close < within else [name]
            for name, other, close in zip(names, self.second, self.margin, strict=True)
        ]

    def __str__(self) -> str:
        if not self.skills:
            best = max((each.of_data for each in self.stability), default=0.0)
            return (
                f"no skills found: halves of the data agree about no number of them by {STABLE} and by {ABOVE_CHANCE} "
                f"more than about data without any (at best {best:.2f}, from 0 to 1)"
            )
        known = "" if self.agreement is None else f"; halves of the data agree by {self.agreement:.2f} (from 0 to 1)"
        apart = f", and {self.nothing:,} that say nothing" if self.nothing else ""
        lines = [
            f"{len(self.found)} skills of {len(self.labels) - self.nothing:,} examples{apart}; sizes of exponent "
            f"{self.exponent:.2f}{known}"
        ]
        lines += [f"  {skill.size:>9,}  {skill.name}" for skill in self.skills]
        return "\n".join([*lines, *([f"{self.duplicates:,} texts are near-duplicates"] if self.duplicates else [])])


def discover(
    texts: Iterable[str] | None = None, *, embeddings: Any = None, k: int | Literal["auto"] = "auto", seed: int = 0
) -> Discovered:
    """Skills of N texts, or of embeddings (N, D) of any model, which texts then only name. `embeddings` may be the
    model: a function of a list of texts that gives (texts, D), asked for a part of them at a time.

    Texts become TF-IDF and its 64 strongest directions, then Ward's clusters. k: as many clusters as two halves of the
    data agree about, and more than they would where nothing is to be found (`lopsided.discovery.stability`). The same
    seed gives the same labels. Texts are read three times, a part at a time, so that they need not fit into memory: a
    list, or anything that begins anew with each `iter` (a column of a data set on disk). Takes scikit-learn (`pip
    install 'lopsided[skills]'`).

    >>> import lopsided.data as ld
    >>> found = ld.discover(["red apple pie", "sweet apple tart", "fast car", "old car race"] * 50, k=2)
    >>> len(found.skills), len(found.labels)
    (2, 200)

    Raises `InputError` for fewer than 40 examples, empty or equal texts, NaN, more skills than examples, or texts that
    can be read only once.
    """
    if not (isinstance(seed, (int, np.integer)) and seed >= 0):
        raise InputError(f"seed = {seed!r}: a whole number of at least 0")
    if texts is None and embeddings is None:
        raise InputError("discover: give texts, or embeddings=")
    read = None if texts is None else looked_through(texts)
    if read is not None and read.number < FEWEST_ROWS:
        raise InputError(f"discover: {read.number:,} examples; at least {FEWEST_ROWS}")
    if callable(embeddings):
        if read is None:
            raise InputError("discover: embeddings= is a function, and there are no texts to give to it")
        embeddings = embedded(read, embeddings)
    points = of_texts(read, seed) if embeddings is None else of_embeddings(embeddings)  # type: ignore[arg-type]
    n = len(points.vectors)
    if read is not None and read.number != n:
        raise InputError(f"discover: {read.number:,} texts and {n:,} embeddings")
    if n < FEWEST_ROWS:
        raise InputError(f"discover: {n:,} examples; at least {FEWEST_ROWS}")
    if len(np.unique(points.vectors[:1000], axis=0)) < 2 and len(np.unique(points.vectors, axis=0)) < 2:
        raise InputError("discover: all examples are alike")
    if k != "auto" and not (isinstance(k, (int, np.integer)) and 2 <= k <= n):
        raise InputError(f"k = {k!r}: 'auto', or from 2 to the number of examples, {n:,}")
    told = np.asarray(points.vectors.any(1))
    if told.sum() < FEWEST_ROWS:
        raise InputError(f"discover: {told.sum():,} examples that say anything; at least {FEWEST_ROWS}")
    stability = agreements(points.vectors[told], seed) if k == "auto" else []
    number = chosen(stability) if k == "auto" else int(k)
    duplicates = 0 if read is None else read.duplicates
    if not number:
        nothing = np.zeros(n, np.int64)
        return Discovered(nothing, (), tuple(stability), duplicates, _map(points), nothing, np.zeros(n))
    named = points if points.terms or read is None else points._replace(**_terms(read, seed))
    found = _clustered(named, number, tuple(stability), duplicates, seed)
    return found if told.all() else _without(found, told)


def by_difficulty(loss: Any, parts: int = 4) -> list[str]:
    """(N,) names of `parts` equal parts of examples by a model's loss on each, (N,): 'part 1 of 4' is the easiest.
    Equal losses are in one part, so that parts are fewer, and less equal, where many are.

    >>> import lopsided.data as ld
    >>> ld.by_difficulty([0.1, 2.0, 0.3, 5.0], parts=2)
    ['part 1 of 2', 'part 2 of 2', 'part 1 of 2', 'part 2 of 2']
    """
    found = np.asarray(loss, float)
    whole = isinstance(parts, (int, np.integer)) and 2 <= parts <= len(found)
    if found.ndim != 1 or not np.isfinite(found).all() or not whole:
        raise InputError("loss: a finite number for each example; parts: from 2 to the number of examples")
    _, which, sizes = np.unique(found, return_inverse=True, return_counts=True)
    middle = np.cumsum(sizes) - sizes + (sizes - 1) // 2  # the rank of the middle one of equal losses
    _, part = np.unique(middle * parts // len(found), return_inverse=True)
    return [f"part {each + 1} of {part.max() + 1}" for each in part[which].tolist()]


def by_columns(columns: Mapping[str, Sequence[Any]], parts: int = 4) -> Discovered:
    """Skills from columns of a table (N,), crossed: `python · part 1 of 4`. Numbers of more than `MANY_VALUES` values,
    as lengths and losses are, are cut into equal parts.

    >>> import lopsided.data as ld
    >>> found = ld.by_columns({"source": ["web", "web", "code", "web"], "language": ["en", "de", "en", "en"]})
    >>> found.names
    ['web · en', 'web · de', 'code · en', 'web · en']

    Raises `InputError` for no column, or columns of several lengths.
    """
    each = {name: _parted(name, list(values), parts) for name, values in columns.items()}
    if not each or len({len(values) for values in each.values()}) > 1 or not len(next(iter(each.values()))):
        raise InputError("by_columns: at least one column, all with a value for each example")
    names = _told_apart(list(zip(*each.values(), strict=True)))
    sizes = Counter(names)
    order = {name: i for i, (name, _) in enumerate(sizes.most_common())}
    labels = np.array([order[name] for name in names])
    examples: dict[str, list[int]] = {name: [] for name in order}
    for row, name in enumerate(names):
        if len(examples[name]) < EXAMPLES:
            examples[name].append(row)
    skills = tuple(Skill(name, sizes[name], tuple(examples[name])) for name in order)
    return Discovered(labels, skills, (), 0, np.zeros((0, 2)), labels, np.full(len(labels), np.inf))


def _told_apart(rows: list[tuple[str | None, ...]]) -> list[str]:
    """(N,) a name for each row's values, None where one is missing; of other values that would have the same name,
    later ones get a number."""
    names: dict[tuple[str | None, ...], str] = {}
    taken: Counter[str] = Counter()
    for row in dict.fromkeys(rows):
        name = " · ".join(UNKNOWN if value is None else value for value in row)
        taken[name] += 1
        names[row] = name if taken[name] == 1 else f"{name} ({taken[name]})"
    return [names[row] for row in rows]


def _parted(name: str, values: list[Any], parts: int) -> list[str | None]:
    """(N,) names of a column's values, or of equal parts of many numbers; None where there is none."""
    known = [value is not None and value == value for value in values]  # NaN is not equal to itself
    there = [value for value, is_there in zip(values, known, strict=True) if is_there]
    quantity = all(isinstance(v, (Real, Decimal)) and not isinstance(v, (bool, np.bool_)) for v in there)
    if quantity and len(set(there)) > MANY_VALUES:
        numbers = [float(value) for value in there]
        if not np.isfinite(numbers).all():
            raise InputError(f"column {name!r}: an infinite value among numbers that are cut into parts")
        cut = iter(by_difficulty(numbers, parts))
        return [f"{name}: {next(cut)}" if is_there else None for is_there in known]
    return [str(value) if is_there else None for value, is_there in zip(values, known, strict=True)]


def _without(found: Discovered, told: np.ndarray) -> Discovered:
    """`Discovered` with a last skill "unknown", of texts without words (or vectors of length 0), about nothing."""
    labels = np.where(told, found.labels, len(found.skills))
    order = np.argsort(-np.bincount(labels[told], minlength=len(found.skills)), kind="stable")
    number = np.append(np.argsort(order), len(order))
    sizes = np.bincount(labels, minlength=len(order) + 1)
    skills = [found.skills[i]._replace(size=int(sizes[i])) for i in order]
    skills = [
        skill._replace(examples=tuple(row for row in skill.examples if told[row])) for skill in skills if skill.size
    ]
    nothing = np.flatnonzero(~told)
    skills.append(Skill(UNKNOWN, len(nothing), tuple(nothing[:EXAMPLES].tolist())))
    labels = np.minimum(number[labels], len(skills) - 1)
    second = np.where(told, np.minimum(number[found.second], len(skills) - 1), len(skills) - 1)
    margin = np.where(told, found.margin, np.inf)
    counted = {"labels": labels, "second": second, "margin": margin, "nothing": len(nothing)}
    return found._replace(skills=tuple(skills), **counted)


def _terms(texts: TextSource, seed: int) -> dict[str, Any]:
    try:
        found = of_texts(texts, seed)
    except InputError:  # they share no words; embeddings tell them apart all the same
        return {}
    return {"terms": found.terms, "fitted": found.fitted}


def _clustered(points: UnitVectors, k: int, stability: tuple[Agreement, ...], duplicates: int, seed: int) -> Discovered:
    told = np.flatnonzero(points.vectors.any(1))
    sample = told[np.random.default_rng(seed).permutation(len(told))[: 2 * SAMPLE]]
    centres = Tree(points.vectors[np.sort(sample)]).centres(k)
    k = len(centres)
    cluster, second, distance, next_distance = _nearest(points.vectors, centres)
    sizes = np.bincount(cluster, minlength=k)
    order = np.argsort(-sizes, kind="stable")
    number = np.empty(k, np.int64)
    number[order] = np.arange(k)
    labels, second = number[cluster], number[second]
    terms = points.terms(labels[points.fitted]) if points.terms is not None and points.fitted is not None else None
    skills, used = [], set()
    for c in range(k):
        rows = np.flatnonzero(labels == c)
        near = rows[np.argsort(distance[rows], kind="stable")[:EXAMPLES]]
        name = " ".join(terms[c]) if terms is not None and c < len(terms) and terms[c] else f"skill {c + 1}"
        name = name if name not in used else f"{name} ({c + 1})"
        used.add(name)
        skills.append(Skill(name, len(rows), tuple(near.tolist())))
    skills = [skill for skill in skills if skill.size]  # equal points may leave a cluster empty
    margin = (next_distance - distance) / np.maximum(distance, 1e-9)
    return Discovered(labels, tuple(skills), stability, duplicates, _map(points), second, margin)


def _nearest(vectors: np.ndarray, centres: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """(N,) nearest and next nearest centre of each point, and the distances to them; a part at a time."""
    found = []
    squares = (centres**2).sum(1)
    for a in range(0, len(vectors), 50_000):
        part = vectors[a : a + 50_000]
        away = np.maximum((part**2).sum(1, keepdims=True) - 2 * part @ centres.T + squares, 0)
        two = np.argpartition(away, min(1, away.shape[1] - 1), axis=1)[:, :2]
        two = np.take_along_axis(two, np.argsort(np.take_along_axis(away, two, 1), axis=1, kind="stable"), 1)
        found.append((two, np.sqrt(np.take_along_axis(away, two, 1))))
    places, distances = (np.concatenate([each[i] for each in found]) for i in (0, 1))
    return places[:, 0], places[:, -1], distances[:, 0], distances[:, -1]


def _map(points: UnitVectors) -> np.ndarray:
    """(N, 2) the two strongest directions of the centred points."""
    mean = points.vectors.mean(0)
    sample = points.vectors[:: max(1, len(points.vectors) // 20_000)] - mean
    directions = np.linalg.svd(sample, full_matrices=False)[2][:2]
    found = (points.vectors - mean) @ directions.T
    return np.column_stack([found, np.zeros(len(found))])[:, :2]
