"""When a direction is learned: decoupled dynamics of one neuron and one direction (paper B, section 3.1).

For a link of information exponent J with leading coefficient b, the overlap c of a neuron with its direction obeys

    dc/dt = J b² a c^(J-1) (1 - c²)

while strengths are small, so 1 / c^(J-2) falls linearly and c leaves its initial size c_0 at

    T = 1 / (J (J - 2) b² a c_0^(J-2)),    J >= 3        (one unit of time is 1 / learning rate steps).

Then the strength s = |v|² follows s' = 4 s (a - s) from sigma_0²: ln(a / sigma_0²) / (4 a) more until it is half of a.
"""

from __future__ import annotations

import numpy as np
import scipy

from lopsided.core.errors import InputError


def escape_time(weight: np.ndarray, overlap: np.ndarray, degree: int, coefficient: float = 1.0) -> np.ndarray:
    """T in units of time, elementwise; needs information exponent `degree` >= 3 (below, no time is singled out)."""
    if degree < 3:
        raise InputError(f"link: a transition time exists for information exponents from 3 on, this link has {degree}")
    return 1.0 / (degree * (degree - 2) * coefficient**2 * weight * np.abs(overlap) ** (degree - 2))


def norm_growth_time(weight: np.ndarray, sigma_0: float | np.ndarray) -> np.ndarray:
    """Time in which a neuron that has found its direction grows from strength sigma_0² to half of its weight."""
    return np.maximum(np.log(weight / sigma_0**2), 0.0) / (4 * weight)


def idealised_loss(times: np.ndarray, weights: np.ndarray, learned_at: np.ndarray) -> np.ndarray:
    """(T,) loss 1/2 sum_p a_p² 1{t < T_p}: every direction is learned at once at its time (inf: never)."""
    return 0.5 * ((weights**2) * (times[:, None] < learned_at)).sum(1)


def overlap_path(times: np.ndarray, weight: float, overlap: float, degree: int) -> np.ndarray:
    """c(t) of the decoupled equation at rising `times`, from c(0) = `overlap`, to a relative error of 1e-8."""

    def slope(_: float, c: np.ndarray) -> np.ndarray:
        return degree * weight * c ** (degree - 1) * (1 - c**2)

    start = [float(overlap)]
    found = scipy.integrate.solve_ivp(
        slope, (0.0, float(times[-1])), start, t_eval=times, rtol=1e-9, atol=1e-12, method="LSODA"
    )
    return found.y[0]
