"""Draws from the posterior: robots with their stations and markers, all of them at once.

Readings tell where the tool is in the axes of the instrument; where the base lies, and how its errors are shared out
between frames, stations and markers, priors alone decide.  So parameters drawn without stations and markers scatter far
more in base axes than predictions do: only all unknowns together scatter as intervals of predictions say.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from elastocal.model.chain import AXES
from elastocal.spatial.entries import Array

if TYPE_CHECKING:
    from elastocal.calibration.calibration import Calibration


def unknowns(c: Calibration) -> tuple[str, ...]:
    """Names of the rows of the covariance."""
    stations = (f"station {s}.{a}" for s in c.stations for a in AXES)
    markers = (f"marker {m}.{a}" for m in c.markers for a in AXES[:3])
    return (*c.names, *stations, *markers, *(f"tool turn.{a}" for a in AXES[3:]))


def drawn(c: Calibration, count: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Parameters (count, p), and steps (count, extra) of the placing, drawn together.

    Compliances are drawn by their logarithms, so that they keep their sign; backlash is not negative.
    """
    own, at = len(c.names), c.values
    sd = c.inflation * np.sqrt(np.diag(c.covariance))
    size = np.where(sd > 0, sd, 1.0)
    values, vectors = np.linalg.eigh(c.inflation**2 * c.covariance / np.outer(size, size))
    moved = rng.normal(size=(count, len(sd))) * np.sqrt(np.maximum(values, 0.0)) @ vectors.T * size
    logs = np.array(["N" in c.parameters[n].unit and c.parameters[n].file_value != 0 for n in c.names], dtype=bool)
    change, steps = moved[:, :own], moved[:, own:]
    share = np.divide(change, at, out=np.zeros_like(change), where=logs & (at != 0))
    out = np.where(logs, at * np.exp(share), at + change)
    gaps = np.array([n.endswith(".gap") for n in c.names], dtype=bool)
    return np.asarray(np.where(gaps, np.maximum(out, 0.0), out)), steps
