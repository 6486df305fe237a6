"""The shape of your own data, for your own training loop. NumPy only: importing this loads neither JAX nor PyTorch.

    import lopsided.data as ld

    groups = ld.Groups(labels)
    shape = ld.Anneal(1.5, 0, begin=0.2, finish=0.9) & ld.Phases(until=(0.1, 0.3, 1), shares=(0.01, 0.1, 1))
    stream = ld.Stream(groups, shape, total=steps * batch, seed=0, cap=8)
    print(stream.describe())
    loader = DataLoader(ld.View(data, stream, batch), batch_size=batch)

The shape lies in a view that is read in order, not in a sampler. Batch size, accumulation, ranks and workers are
layouts of the positions, and the whole state is one integer.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from lopsided.data.auto_schedule import AutoSchedule
from lopsided.data.buckets import Bucketed
from lopsided.data.by_loss import GroupDRO, LossProportional
from lopsided.data.candidates import candidates
from lopsided.data.contrast_anneal import ContrastAnneal
from lopsided.data.describe import effective_share, exponent, samples_for
from lopsided.data.groups import Groups
from lopsided.data.hugging_face import select
from lopsided.data.interleave import Interleaved, interleave
from lopsided.data.packed import Packed, Packing, packed_lengths
from lopsided.data.proxies import proxy
from lopsided.data.self_anneal import SelfAnneal
from lopsided.data.stream import Stream
from lopsided.data.totals import until_all_seen, until_first_ends
from lopsided.data.view import BatchSampler, View
from lopsided.shape.blend import Blend
from lopsided.shape.laws import Anneal, AsIs, Binned, Curriculum, PowerLaw, Temperature, TwoLevel, Uniform, Weights
from lopsided.shape.phases import Phases
from lopsided.shape.shape import Shape

if TYPE_CHECKING:
    from lopsided.data.feed import Feed
    from lopsided.data.grain import GrainSelection
    from lopsided.discovery.discover import by_columns, by_difficulty, discover

__all__ = [
    "Anneal",
    "AsIs",
    "AutoSchedule",
    "BatchSampler",
    "Binned",
    "Blend",
    "Bucketed",
    "ContrastAnneal",
    "Curriculum",
    "Feed",
    "GrainSelection",
    "GroupDRO",
    "Groups",
    "Interleaved",
    "LossProportional",
    "Packed",
    "Packing",
    "Phases",
    "PowerLaw",
    "SelfAnneal",
    "Shape",
    "Stream",
    "Temperature",
    "TwoLevel",
    "Uniform",
    "View",
    "Weights",
    "by_columns",
    "by_difficulty",
    "candidates",
    "discover",
    "effective_share",
    "exponent",
    "interleave",
    "packed_lengths",
    "proxy",
    "samples_for",
    "select",
    "until_all_seen",
    "until_first_ends",
]


def __getattr__(name: str) -> Any:
    if name == "GrainSelection":  # imports grain
        return importlib.import_module("lopsided.data.grain").GrainSelection
    if name == "Feed":  # imports torch
        return importlib.import_module("lopsided.data.feed").Feed
    if name in ("by_columns", "by_difficulty", "discover"):  # imports SciPy
        return getattr(importlib.import_module("lopsided.discovery.discover"), name)
    raise AttributeError(f"module 'lopsided.data' has no attribute {name!r}")
