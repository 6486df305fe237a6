"""How lopsided should training data be?

    import lopsided as lop

    small = lop.Spec(
        task=lop.tasks.SparseParity(d=10, k=3),
        model=lop.models.MLP(width=64),
        plan=lop.plans.FixedSet(size=512, batch=32),
        optimizer=lop.optim.SGD(lr=1.0),
        loss="logistic",
        steps=400,
        evaluation={"every": 20},
    )
    results = lop.run({"small": small, "fresh": small.replace(plan=lop.plans.Online(batch=32))}, seeds=8)
    results.compare("fresh", "small").faster(at=0.95)

Everything is loaded when it is first used: `import lopsided` itself takes no time and no JAX.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lopsided import data, models, optim, plans, probes, recipes, skills, stats, tasks, theory
    from lopsided.advising.any_training import Advised, advise
    from lopsided.api.batches import batches
    from lopsided.api.checking import check
    from lopsided.api.comparing import Comparison, compare
    from lopsided.api.curves import Curves
    from lopsided.api.forecasting import Forecast, forecast
    from lopsided.api.looks import Looks, looks
    from lopsided.api.planning import plan
    from lopsided.api.reading import read
    from lopsided.api.results import Results
    from lopsided.api.running import load, run
    from lopsided.api.runs import Runs
    from lopsided.core.errors import InputError
    from lopsided.core.registry import register
    from lopsided.core.spec import Spec
    from lopsided.store.parts import Store

__all__ = [
    "Advised",
    "Comparison",
    "Curves",
    "Forecast",
    "InputError",
    "Looks",
    "Results",
    "Runs",
    "Spec",
    "Store",
    "advise",
    "batches",
    "check",
    "compare",
    "data",
    "forecast",
    "load",
    "looks",
    "models",
    "optim",
    "plan",
    "plans",
    "probes",
    "read",
    "recipes",
    "register",
    "run",
    "skills",
    "stats",
    "tasks",
    "theory",
]

_WHERE = {
    "Advised": "lopsided.advising.any_training",
    "advise": "lopsided.advising.any_training",
    "Comparison": "lopsided.api.comparing",
    "Curves": "lopsided.api.curves",
    "InputError": "lopsided.core.errors",
    "Results": "lopsided.api.results",
    "Spec": "lopsided.core.spec",
    "Store": "lopsided.store.parts",
    "batches": "lopsided.api.batches",
    "check": "lopsided.api.checking",
    "compare": "lopsided.api.comparing",
    "Forecast": "lopsided.api.forecasting",
    "forecast": "lopsided.api.forecasting",
    "load": "lopsided.api.running",
    "Looks": "lopsided.api.looks",
    "looks": "lopsided.api.looks",
    "plan": "lopsided.api.planning",
    "read": "lopsided.api.reading",
    "Runs": "lopsided.api.runs",
    "register": "lopsided.core.registry",
    "run": "lopsided.api.running",
}
"""Modules of the public names that are no modules themselves."""


def __getattr__(name: str) -> Any:
    if name not in __all__:
        if name == "__version__":
            from importlib import metadata

            return metadata.version("lopsided")
        raise AttributeError(f"module 'lopsided' has no attribute {name!r}")
    try:
        if name not in _WHERE:
            return importlib.import_module(f"lopsided.{name}")
        return getattr(importlib.import_module(_WHERE[name]), name)
    except ModuleNotFoundError as error:
        if str(error.name).startswith("lopsided"):
            raise
        from lopsided.core.installing import install

        raise ImportError(f"lopsided.{name} needs {error.name}: {install('lab')}") from error


def __dir__() -> list[str]:
    return sorted(__all__)
