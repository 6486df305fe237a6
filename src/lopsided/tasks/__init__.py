"""Tasks: what a sample is. Each is a class with keyword arguments, for example `SparseParity(d=20, k=6)`."""

from lopsided.tasks.additive_teacher import AdditiveTeacher
from lopsided.tasks.icl_regression import ICLRegression
from lopsided.tasks.k_composition import KComposition
from lopsided.tasks.modular_addition import ModularAddition
from lopsided.tasks.single_index import SingleIndex
from lopsided.tasks.sparse_parity import SparseParity
from lopsided.tasks.state_tracking import StateTracking

__all__ = [
    "AdditiveTeacher",
    "ICLRegression",
    "KComposition",
    "ModularAddition",
    "SingleIndex",
    "SparseParity",
    "StateTracking",
]
