"""Parameters that are not estimated: where they fell, why, and what they are held at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from elastocal.identify.trial import ABSURD, Trial
from elastocal.model.descriptions import Description
from elastocal.model.robot import Robot
from elastocal.solve.groups import Group, Groups
from elastocal.spatial.entries import Array


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


def by_groups(model: Robot, groups: Groups) -> list[Dropped]:
    """What the readings cannot see alone."""
    kept = {groups.names[i] for i in groups.kept}
    absorbed = {n: c.kept for s in groups.subgroups for c in s.combinations for n, _ in c.absorbed}
    out = []
    for name, group in zip(groups.names, groups.group, strict=True):
        if name in kept:
            continue
        why = (
            "moves nothing that was read"
            if group is Group.UNOBSERVABLE
            else f"acts only together with {absorbed[name]}"
        )
        held = model.parameters.values[model.parameters.index(name)] if name in model.parameters.names else 0.0
        out.append(Dropped(name, "algebraic", f"{group.value}: {why}", np.nan, np.nan, np.nan, float(held)))
    return out


def by_sight(model: Robot, trial: Trial) -> list[Dropped]:
    """What the readings do not resolve."""
    out = []
    for name, size in trial.hidden.items():
        p = model.parameters.rows[model.parameters.index(name)]
        why = (
            f"even {ABSURD * p.scale:g} {p.unit} would show by only {size:.2g} of the noise beyond what others explain"
        )
        out.append(Dropped(name, "resolved", why, np.nan, np.nan, np.nan, p.value))
    return out


def by_partner(model: Robot, trial: Trial) -> list[Dropped]:
    """What means nothing without another that is held."""
    out = []
    for name, other in trial.widowed.items():
        held = float(model.parameters.values[model.parameters.index(name)])
        why = f"{other} is not determined, and neither means anything beside a guess of the other"
        out.append(Dropped(name, "resolved", why, np.nan, np.nan, np.nan, held))
    return out


def by_ratio(
    names: Sequence[str], values: Array, sd: Array, held: Array, distance: float, threshold: float
) -> list[Dropped]:
    """What does not stand out of the noise (M3): one parameter, or those that are held only together.

    ``distance`` is how far the estimates are from the values held, in standard deviations.
    """
    ratios = np.abs(values) / sd
    away = f"{distance:.2g} standard deviations"
    if len(names) == 1:
        also = f", and it is only {away} from {held[0]:.3g}" if held[0] else ""
        why = f"value over standard deviation {ratios[0]:.2g} is below {threshold:g}{also}"
    else:
        weak = int(np.argmin(ratios))
        why = (
            f"value over standard deviation of {names[weak]}, {ratios[weak]:.2g}, is below {threshold:g}, and "
            f"{' and '.join(names)} are only {away} from what they are held at; none means anything beside a guess of "
            "the other, so they are held together"
        )
    rows = zip(names, values, sd, ratios, held, strict=True)
    return [Dropped(n, "M3", why, float(x), float(s), float(r), float(h)) for n, x, s, r, h in rows]
