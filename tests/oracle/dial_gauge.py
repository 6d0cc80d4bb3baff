"""A dial gauge written out by hand: every reading with the line it lies on, and no sign function."""

from __future__ import annotations

import numpy as np

STEPS = (10.0, 20.0, 30.0, 40.0)
LINES = {"push": (1, -1), "let go": (1, 1), "pull": (-1, 1), "let go of pull": (-1, -1)}
"""Side of the play, and whether friction holds the gauge back (-) or out (+) along the force axis."""


def plan(steps=STEPS, zeros=False):
    """Forces of one cycle with their lines: up, down, up the other way, down."""
    up, down = list(steps), list(steps[-2::-1])
    rows = [(f, "push") for f in up] + [(f, "let go") for f in down] + ([(0.0, None)] if zeros else [])
    return rows + [(-f, "pull") for f in up] + [(-f, "let go of pull") for f in down] + ([(0.0, None)] if zeros else [])


def readings(p, g, h, cycles=3, steps=STEPS, zeros=False, offset=5e-5, noise=0.0, rng=None):
    """Force, displacement and cycle number; each cycle with another zero of the gauge."""
    force, way, number = [], [], []
    for c in range(1, cycles + 1):
        for f, line in plan(steps, zeros):
            side, friction = LINES[line] if line else (0.3, 0.0)
            force.append(f)
            way.append(p * f + side * g + friction * h + offset * c)
            number.append(c)
    way = np.array(way)
    if noise:
        way = way + noise * rng.normal(size=len(way))
    return np.array(force), way, np.array(number)


def csv_text(loops, unit="um", separator=","):
    """Loops by direction in degrees, or (joint, lever in mm), as a file."""
    lines = [separator.join(["joint", "lever_mm", "direction_deg", "cycle", "force_N", f"displacement_{unit}"])]
    for key, (force, way, cycle) in loops.items():
        joint, lever, direction = ("", "", str(key)) if np.isscalar(key) else (key[0], str(key[1]), "")
        for f, s, c in zip(force, way, cycle, strict=True):
            value = f"{s / {'um': 1e-6, 'mm': 1e-3}[unit]:.9f}"
            cells = [joint, lever, direction, str(c), f"{f:g}", value]
            lines.append(separator.join(x.replace(".", ",") if separator == ";" else x for x in cells))
    return "\n".join(lines) + "\n"
