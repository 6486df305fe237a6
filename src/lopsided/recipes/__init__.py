"""Recipes of this package, a module each: `lop.recipes.state_tracking.recipe.specs("smoke")` has specs by arm.

>>> import lopsided as lop
>>> list(lop.recipes.tour.recipe.scales)
['smoke', 'laptop', 'paper']
"""

import importlib
from pkgutil import iter_modules
from typing import Any

from lopsided.core.errors import unknown


def __getattr__(name: str) -> Any:
    if name.startswith("_") or name not in __dir__():
        raise AttributeError(str(unknown("recipe", name, __dir__())))
    return importlib.import_module(f"lopsided.recipes.{name}")


def __dir__() -> list[str]:
    return sorted(each.name for each in iter_modules(__path__) if not each.name.startswith("_"))
