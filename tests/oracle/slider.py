"""A gripper that sticks and slides: play, then a spring with a Coulomb slider beside it, moved in small steps of force.

The slider stays where it is as long as the force in it, F - x / p, is at most Fc, and slides with Fc beyond.  Its heat
is Fc times the way that it slid; nothing here knows branches or lines.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Slid:
    """Displacement at the forces asked for, heat of the slider, and the work of the force, both on the whole way."""

    way: np.ndarray
    heat: float
    work: float


def slide(p, g, friction, forces, steps=400):
    """From rest at zero force through ``forces`` in order, ``steps`` small ones to each."""
    x, seat, at, heat, work, out = 0.0, 0.0, 0.0, 0.0, 0.0, []
    for target in forces:
        for f in np.linspace(at, target, steps + 1)[1:]:
            before = x
            in_slider = f - x / p
            if abs(in_slider) > friction:
                x = p * (f - np.copysign(friction, in_slider))
            seat = g if f > 0 else -g if f < 0 else seat  # falls over where the force is zero, without work
            heat += friction * abs(x - before)
            work += f * (x - before)
        at = target
        out.append(x + seat)
    return Slid(np.array(out), heat, work)
