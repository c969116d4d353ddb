"""Finds the minimum of a smooth convex function with numpy alone: L-BFGS (Nocedal 1980)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Minimum", "minimise"]

Vector = NDArray[np.float64]

_MEMORY = 10
"""Pairs of steps and slopes that stand for the curvature."""

_ENOUGH = 1e-4
"""A step must bring this share of what the slope promises (Armijo 1966)."""

_MAX_HALVINGS = 30


@dataclass(frozen=True, slots=True)
class Minimum:
    """Where the function is least, as far as it was followed."""

    x: Vector
    value: float
    n_iterations: int


def minimise(
    function: Callable[[Vector], tuple[float, Vector]],
    start: Vector,
    *,
    max_iterations: int = 200,
    value_tolerance: float = 1e-8,
    slope_tolerance: float = 1e-4,
) -> Minimum:
    """Return the minimum of ``function``; the same input gives the same steps.

    Args:
        function: Returns value and gradient at a point.
        start: Where to begin.
        max_iterations: Steps at most.
        value_tolerance: Ends when a step gains less than this, relative to the value.
        slope_tolerance: Ends when no component of the gradient is larger.
    """
    x = start.astype(np.float64)
    value, slope = function(x)
    pairs: deque[tuple[Vector, Vector, float]] = deque(maxlen=_MEMORY)
    n_done = 0
    while n_done < max_iterations and np.abs(slope).max(initial=0.0) > slope_tolerance:
        direction = -_times_inverse_curvature(slope, pairs)
        if not pairs:  # without curvature the first step is one unit long at most
            direction /= max(1.0, float(np.linalg.norm(slope)))
        promised = float(slope @ direction)
        step = 1.0
        for _ in range(_MAX_HALVINGS):
            next_value, next_slope = function(x + step * direction)
            if next_value <= value + _ENOUGH * step * promised:
                break
            step /= 2
        else:
            break  # rounding hides what is left to gain
        moved, turned = step * direction, next_slope - slope
        bend = float(moved @ turned)
        if bend > 1e-10 * float(turned @ turned):
            pairs.append((moved, turned, 1 / bend))
        gained = value - next_value
        x, value, slope = x + moved, next_value, next_slope
        n_done += 1
        if gained <= value_tolerance * max(abs(value), 1.0):
            break
    return Minimum(x, value, n_done)


def _times_inverse_curvature(slope: Vector, pairs: deque[tuple[Vector, Vector, float]]) -> Vector:
    """Return the slope times the inverse Hessian that ``pairs`` stand for: the two loops."""
    result = slope.copy()
    shares: list[float] = []
    for moved, turned, inverse in reversed(pairs):
        shares.append(inverse * float(moved @ result))
        result -= shares[-1] * turned
    if pairs:
        moved, turned, _ = pairs[-1]
        result *= float(moved @ turned) / float(turned @ turned)
    for (moved, turned, inverse), share in zip(pairs, reversed(shares), strict=True):
        result += (share - inverse * float(turned @ result)) * moved
    return result
