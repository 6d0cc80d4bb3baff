"""What no instrument reads: slips of units and empty tables, each refused with the number that shows it."""

from __future__ import annotations

import numpy as np

from elastocal.errors import InputError
from elastocal.files.campaign.readings import Readings
from elastocal.files.units import LENGTH
from elastocal.spatial.entries import Array

SOFT, FAR, TURNED = 0.1, 3.0, 0.1
"""Largest deflection and distance from the base as shares of the robot's size, largest turn of a deflection in rad."""


def check_any(found: Readings, file: str) -> None:
    """There are numbers, and not only zeros."""
    numbers = np.concatenate([found.shifts, found.turns], axis=2)
    known = numbers[np.isfinite(numbers)]
    if not len(known):
        raise InputError(f"{file}: holds no reading at all; fill the columns of the readings")
    if not np.any(known):
        raise InputError(f"{file}: every reading is zero; was the table filled?")


def check_deflection_sizes(found: Readings, size: float) -> None:
    """Nothing bends by a tenth of the robot."""
    for reading, marker, axis in np.argwhere(np.abs(found.shifts) > SOFT * size):
        value = abs(float(found.shifts[reading, marker, axis]))
        place, column, text = found.where(reading, marker, axis)
        less = " less its value without load" if found.table(reading, marker).by_difference else ""
        said = f"{text}{less} gives a deflection of {value:.3g} m on a robot of {size:.3g} m"
        raise InputError(f"{place}: {said}; {_meant(column, value, SOFT * size)}")
    for reading, marker, axis in np.argwhere(np.abs(found.turns) > TURNED):
        place, _, text = found.where(reading, marker, axis, turn=True)
        value = abs(float(found.turns[reading, marker, axis]))
        raise InputError(f"{place}: {text} is a turn by {value:.3g} rad under load; check the unit: was mrad meant?")


def check_positions(found: Readings, points: Array, size: float) -> None:
    """No marker is far beyond the robot's reach; ``points`` (N, markers, 3) are in base axes."""
    for reading, marker in np.argwhere(np.linalg.norm(points, axis=2) > FAR * size):
        distance = float(np.linalg.norm(points[reading, marker]))
        axis = int(np.nanargmax(np.abs(found.shifts[reading, marker])))
        place, column, text = found.where(reading, marker, axis)
        said = f"{text} puts {found.markers[marker]} {distance:.3g} m from the base of a robot of {size:.3g} m"
        raise InputError(f"{place}: {said}; {_meant(column, distance, FAR * size)}")


def _meant(column: str, value: float, most: float) -> str:
    name, _, unit = column.rpartition("_")
    better = [u for u in ("mm", "um") if value * LENGTH[u] / LENGTH[unit] <= most]
    return f"check the unit: was {name}_{better[0]} meant?" if better else "correct the number"
