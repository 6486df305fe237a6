"""Probes: what else is measured at evaluations."""

from lopsided.probes.directions import Directions
from lopsided.probes.landscape import Landscape
from lopsided.probes.learned_count import LearnedCount
from lopsided.probes.overlap_matrix import OverlapMatrix
from lopsided.probes.population_loss import PopulationLoss
from lopsided.probes.rank_bins import RankBins
from lopsided.probes.skill_error import SkillError
from lopsided.probes.tail_gradient import TailGradient
from lopsided.probes.test_laws import TestLaws
from lopsided.probes.train_metrics import TrainMetrics
from lopsided.probes.weight_norms import WeightNorms
from lopsided.probes.worked_solutions import WorkedSolutionsProbe

__all__ = [
    "Directions",
    "Landscape",
    "LearnedCount",
    "OverlapMatrix",
    "PopulationLoss",
    "RankBins",
    "SkillError",
    "TailGradient",
    "TestLaws",
    "TrainMetrics",
    "WeightNorms",
    "WorkedSolutionsProbe",
]
