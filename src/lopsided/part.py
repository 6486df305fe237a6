"""Everything that a part of one's own is written with, in one import: a task, a plan, a model, a probe, skills.

    from lopsided.part import Sample, SampleContext, Task, Tokens, Classes, register, words

A part is one class. `register` makes it known under its `name`; `lopsided.check` tries a task out.
"""

from __future__ import annotations

from lopsided.core.batch import Batch, Sample
from lopsided.core.config import Rate, TracedFloat, TracedInt
from lopsided.core.errors import InputError
from lopsided.core.keys import Key, below, normal, shuffled, stream, unit, words
from lopsided.core.model import ContinuesText, Model
from lopsided.core.optimizer import Optimizer
from lopsided.core.plan import (
    Draw,
    FixedSets,
    MayRelabel,
    MixesLevels,
    Plan,
    Remembers,
    SampledPlan,
    SeveralStreams,
    Stream,
)
from lopsided.core.prediction import Prediction
from lopsided.core.probe import Probe, ProbeContext, Trained
from lopsided.core.registry import register
from lopsided.core.shapes import Classes, Scalar, Tokens, Vector, Vectors
from lopsided.core.skills import Skills
from lopsided.core.task import (
    ExactLoss,
    FiniteInputs,
    HasChance,
    HasLatent,
    HasLevels,
    HasSkills,
    HoldsOut,
    RandomLabels,
    RealInputs,
    SampleContext,
    SignInputs,
    SkillLaw,
    Solution,
    Task,
    WorkedSolutions,
    WritesText,
)

__all__ = [
    "Batch",
    "Classes",
    "ContinuesText",
    "Draw",
    "ExactLoss",
    "FiniteInputs",
    "FixedSets",
    "HasChance",
    "HasLatent",
    "HasLevels",
    "HasSkills",
    "HoldsOut",
    "InputError",
    "Key",
    "MayRelabel",
    "MixesLevels",
    "Model",
    "Optimizer",
    "Plan",
    "Prediction",
    "Probe",
    "ProbeContext",
    "RandomLabels",
    "Rate",
    "RealInputs",
    "Remembers",
    "Sample",
    "SampleContext",
    "SampledPlan",
    "Scalar",
    "SeveralStreams",
    "SignInputs",
    "SkillLaw",
    "Skills",
    "Solution",
    "Stream",
    "Task",
    "Tokens",
    "TracedFloat",
    "TracedInt",
    "Trained",
    "Vector",
    "Vectors",
    "WorkedSolutions",
    "WritesText",
    "below",
    "normal",
    "register",
    "shuffled",
    "stream",
    "unit",
    "words",
]
