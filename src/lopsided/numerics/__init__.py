"""Numerics that engines, tasks and theory share: exact sums, Hermite links, counters, decompositions, lowering."""
