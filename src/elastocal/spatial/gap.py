"""From one pose to another, for batches with the configurations last."""

from __future__ import annotations

import numpy as np

from elastocal.spatial.entries import Array
from elastocal.spatial.rotation import rotation_vector


def missing(position: Array, rotation: Array | None, place: Array, turn: Array) -> Array:
    """What brings a pose (place, turn) to the desired one: shift and rotation vector in base axes, (6, N).

    Positions are (3, N), rotations (3, 3, N); without a desired rotation the shift alone, (3, N).
    """
    shift = position - place
    if rotation is None:
        return shift
    return np.concatenate([shift, rotation_vector(np.einsum("ijn,kjn->ikn", rotation, turn))])
