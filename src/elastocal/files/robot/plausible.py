"""Whether a robot file can be of a robot: masses, centres of mass, inertias and lengths, for every format.

Numbers in the wrong unit are finite and well formed: a centre of mass at 500 (mm read as m) bends an arm like a crane.
The bounds are far from what exists.  ``size`` is the length of an arm stretched out, m.  Every function gives what is
wrong as the end of a sentence, or nothing.
"""

from __future__ import annotations

from math import hypot

import numpy as np

from elastocal.spatial.entries import Array

HEAVIEST = 20_000.0
"""Of one body, kg: the heaviest arms weigh 12 t as a whole."""
FARTHEST = 100.0
"""From one frame to the next, m: tracks are shorter."""
MOST_FRAMES = 1000
"""Of one robot: humanoids have a hundred."""
STRONGEST = 30.0
"""Gravity, m/s2."""
NOTHING = 1e-6
"""Inertia, kg m2, of which nothing is said: parts of no account have any number."""
ROUNDED = 1e-3
GROSS = 2.0
"""Times that a principal moment of inertia may exceed the sum of the others before the file is refused."""


def size_of(translations: list[Array]) -> float:
    """Of an arm whose frames lie so far from their parents."""
    return sum(hypot(*t) for t in translations)


def wrong_number(frames: int) -> str:
    return f"{frames} frames or links are too many for a robot (at most {MOST_FRAMES})" if frames > MOST_FRAMES else ""


def wrong_mass(mass: float) -> str:
    if not 0 <= mass <= HEAVIEST:
        return f"a mass of {mass:g} kg is not one of a robot's link (0 to {HEAVIEST:g} kg); check its unit"
    return ""


def wrong_length(translation: Array) -> str:
    length = hypot(*translation)
    if not length <= FARTHEST:
        return f"lies {length:g} m from the frame before, and no robot reaches {FARTHEST:g} m; is it in mm?"
    return ""


def _outside(size: float) -> float:
    """So far away no part of an arm lies; of one that has no length little is known."""
    return max(1.0, 2 * size) if size > 0 else 10.0


def wrong_centre(centre: Array, size: float) -> str:
    away, most = hypot(*centre), _outside(size)
    if not away <= most:
        return (
            f"a centre of mass {away:.3g} m from its frame is outside of an arm that is {size:.3g} m long "
            f"(at most {most:.3g} m); is it in mm?"
        )
    return ""


def wrong_inertia(tensor: Array, mass: float, size: float) -> tuple[str, str]:
    """What refuses the file, and what is only noted: inertias do not act on an arm at rest."""
    low, middle, high = np.linalg.eigvalsh(tensor)
    if not high > NOTHING:
        return ("", "") if low > -NOTHING else (f"an inertia of {low:g} kg m2 is negative; check the entries", "")
    if low < -ROUNDED * high:
        return f"has a negative principal moment of inertia, {low:.3g} kg m2; check signs and entries", ""
    if mass > 0 and np.sqrt(high / mass) > _outside(size):
        radius = np.sqrt(high / mass)
        return f"has a radius of gyration of {radius:.3g} m in an arm {size:.3g} m long; are inertias in kg m2?", ""
    message = (
        f"principal moments of inertia {low:.3g}, {middle:.3g}, {high:.3g} kg m2: the largest exceeds the others' sum"
    )
    if high > GROSS * (low + middle):
        return f"{message}, which no body has; check the entries", ""
    return "", (
        f"{message}, which no body has; it does not act at rest" if high > (1 + ROUNDED) * (low + middle) else ""
    )


def wrong_gravity(gravity: Array) -> str:
    size = hypot(*gravity)
    return f"gravity of {size:g} m/s2; write about 9.81 m/s2" if not size <= STRONGEST else ""
