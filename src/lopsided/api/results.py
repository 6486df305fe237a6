"""Results of a library run: arms, comparisons, a picture, tables."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lopsided.api.comparing import Comparison
from lopsided.api.curves import Curves
from lopsided.core.errors import InputError
from lopsided.core.registry import registered
from lopsided.core.shapes import has_accuracy
from lopsided.report.text import number
from lopsided.results.stored import Arm
from lopsided.results.stored import Results as StoredResults

if TYPE_CHECKING:
    import pandas
    import pyarrow
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Results(StoredResults):
    """Arms by name: `results["small"].metric("test/accuracy")` is (members, evaluations).

    >>> import lopsided as lop, tempfile
    >>> spec = lop.Spec(task=lop.tasks.SparseParity(d=6, k=2), model=lop.models.MLP(width=8), loss="logistic",
    ...     plan=lop.plans.Online(batch=8), optimizer=lop.optim.SGD(lr=0.5), steps=4,
    ...     evaluation={"every": 2, "samples": 16})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     results = lop.run({"one": spec, "two": spec.replace(steps=6)}, seeds=2, out=folder)
    >>> list(results.arms), results["two"].metric("test/accuracy").shape[0]
    (['one', 'two'], 2)
    """

    @property
    def metric(self) -> str:
        """What is compared if nothing else is said: a recipe's own metric; test accuracy, or test loss where there is
        none; else the first number that all arms have."""
        spec = next(iter(self.arms.values())).spec
        own = getattr(registered("recipe").get(self.recipe), "metric", None)
        usual = own or ("test/accuracy" if has_accuracy(spec.task.outputs) else "test/loss")
        common = set.intersection(*({n for n, v in arm.values.items() if v.ndim == 2} for arm in self.arms.values()))
        return usual if usual in common or not common else min(common)

    def compare(self, baseline: str, candidate: str, metric: str | None = None, axis: str = "samples") -> Comparison:
        """`candidate` against `baseline`, along `samples` (compute), `steps` or `distinct` samples."""
        metric = metric or self.metric
        pair = [curves_of(self[name], metric, axis) for name in (baseline, candidate)]
        return Comparison(pair[0], pair[1], metric, held=True)

    def plot(self, metric: str | None = None, axis: str = "samples") -> Figure:
        """Medians over members with bands from the lowest to the highest, one line an arm."""
        from lopsided.figures import panels
        from lopsided.report import matplotlib_draw

        chosen: Any = axis
        panel = panels.curves(self, metric or self.metric, chosen, metric or self.metric)
        return matplotlib_draw.draw(panels.Figure("", [panel]))

    def to_arrow(self) -> pyarrow.Table:
        """One row for each member, evaluation and metric that is a number. Raises `InputError` without `pyarrow`."""
        pyarrow = _needed("pyarrow", "to_arrow")
        return pyarrow.table(self._columns())

    def to_pandas(self) -> pandas.DataFrame:
        """One row for each member, evaluation and metric that is a number. Raises `InputError` without `pandas`."""
        pandas = _needed("pandas", "to_pandas")
        return pandas.DataFrame(self._columns())

    def _columns(self) -> dict[str, np.ndarray]:
        pieces: list[dict[str, np.ndarray]] = []
        for arm in self.arms.values():
            members, times = len(arm.seeds), len(arm.steps)
            for metric, values in arm.values.items():
                if values.ndim == 2:
                    pieces.append(
                        {
                            "arm": np.repeat(arm.name, members * times),
                            "seed": np.repeat(np.array(arm.seeds, np.uint64), times),
                            "step": np.tile(arm.steps, members),
                            "samples": np.tile(arm.samples, members),
                            "metric": np.repeat(metric, members * times),
                            "value": values.reshape(-1),
                        }
                    )
        return {key: np.concatenate([piece[key] for piece in pieces]) for key in pieces[0]}

    def __repr__(self) -> str:
        head = f"final {self.metric}: median [lowest, highest]"
        return "\n".join([head, *(f"{name}: {members} members, {text}" for name, members, text in self._lines())])

    def _repr_html_(self) -> str:
        from html import escape

        rows = "".join(f"<tr><td>{escape(n)}</td><td>{m}</td><td>{escape(t)}</td></tr>" for n, m, t in self._lines())
        return f"<table><tr><th>arm</th><th>members</th><th>final {escape(self.metric)}</th></tr>{rows}</table>"

    def _lines(self) -> list[tuple[str, int, str]]:
        found = []
        for name, arm in self.arms.items():
            if self.metric not in arm.values:
                found.append((name, len(arm.seeds), f"metrics: {', '.join(sorted(arm.values)[:6])}"))
                continue
            final = arm.final(self.metric)
            known = final[np.isfinite(final)]
            ends = [number(float(f(known))) if len(known) else "–" for f in (np.median, np.min, np.max)]
            gone = int(arm.diverged.sum())
            said = f"{ends[0]} [{ends[1]}, {ends[2]}]" + (f", {gone} diverged" if gone else "")
            found.append((name, len(arm.seeds), said))
        return found


def curves_of(arm: Arm, metric: str, axis: str) -> Curves:
    """An arm's curves along `samples`, `steps` or `distinct`; infinite from where a member diverged."""
    values = arm.metric(metric)
    lost = np.isnan(values) & np.asarray(arm.diverged)[:, None]
    return Curves(arm.name, arm.along(axis), np.where(lost, np.inf, values), axis, arm.seeds)


def _needed(module: str, method: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError:
        raise InputError(f"{method}: needs {module}: pip install {module}") from None


def of_stored(found: StoredResults) -> Results:
    """Results of the library from those of the store: the arms, with the methods above."""
    arms: Mapping[str, Arm] = found.arms
    return Results(found.recipe, found.scale, arms)
