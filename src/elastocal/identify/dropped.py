"""Parameters that are not estimated: where they fell, why, and what they are held at."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elastocal.identifiability.groups import Group, Groups
from elastocal.identify.trial import ABSURD, Trial
from elastocal.model.descriptions import Description
from elastocal.model.robot import RobotModel


@dataclass(frozen=True)
class Dropped:
    """A parameter that is not estimated: where it fell, why, with which numbers, and what it is held at."""

    name: str
    stage: str
    reason: str
    value: float
    sd: float
    ratio: float
    held_at: float


def by_description(description: Description, name: str) -> Dropped:
    """Taken away on physical grounds (M1, M2)."""
    return Dropped(name, description.title, description.reason(name), np.nan, np.nan, np.nan, np.nan)


def by_groups(model: RobotModel, groups: Groups) -> list[Dropped]:
    """What the readings cannot see alone."""
    kept = {groups.names[i] for i in groups.kept}
    absorbed = {n: c.kept for s in groups.subgroups for c in s.combinations for n, _ in c.absorbed}
    out = []
    for name, group in zip(groups.names, groups.group, strict=True):
        if name in kept:
            continue
        why = "moves nothing that was read" if group is Group.SILENT else f"acts only together with {absorbed[name]}"
        held = model.parameters.values[model.parameters.index(name)] if name in model.parameters.names else 0.0
        out.append(Dropped(name, "algebraic", f"{group.value}: {why}", np.nan, np.nan, np.nan, float(held)))
    return out


def by_sight(model: RobotModel, trial: Trial) -> list[Dropped]:
    """What the readings do not resolve."""
    out = []
    for name, size in trial.hidden.items():
        p = model.parameters.rows[model.parameters.index(name)]
        why = (
            f"even {ABSURD * p.scale:g} {p.unit} would show by only {size:.2g} of the noise beyond what others explain"
        )
        out.append(Dropped(name, "resolved", why, np.nan, np.nan, np.nan, p.value))
    return out


def by_ratio(name: str, value: float, sd: float, threshold: float, held: float) -> Dropped:
    """What does not stand out of the noise (M3)."""
    ratio = abs(value) / sd
    also = f", and its distance from {held:.3g}" if held else ""
    why = f"value over standard deviation {ratio:.2g} is below {threshold:g}{also}"
    return Dropped(name, "M3", why, value, sd, ratio, held)
