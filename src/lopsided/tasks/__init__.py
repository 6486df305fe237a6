"""Tasks: what a sample is. Each is a class with keyword arguments, for example `SparseParity(d=20, k=6)`."""

from lopsided.tasks.additive_teacher import AdditiveTeacher
from lopsided.tasks.arithmetic import Arithmetic
from lopsided.tasks.equal_elements import EqualElements
from lopsided.tasks.grade_school_math import GradeSchoolMath
from lopsided.tasks.icl_regression import ICLRegression
from lopsided.tasks.k_composition import KComposition
from lopsided.tasks.modular_addition import ModularAddition
from lopsided.tasks.multi_hop_qa import MultiHopQA
from lopsided.tasks.single_index import SingleIndex
from lopsided.tasks.sparse_features import SparseFeatures
from lopsided.tasks.sparse_parity import SparseParity
from lopsided.tasks.state_tracking import StateTracking

__all__ = [
    "AdditiveTeacher",
    "Arithmetic",
    "EqualElements",
    "GradeSchoolMath",
    "ICLRegression",
    "KComposition",
    "ModularAddition",
    "MultiHopQA",
    "SingleIndex",
    "SparseFeatures",
    "SparseParity",
    "StateTracking",
]
