"""The external load of a command: force and moment at a frame, typed once or given per configuration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from elastocal.app.configurations import Configurations, numbers
from elastocal.errors import InputError

if TYPE_CHECKING:
    from elastocal.model.loads.wrench import AppliedWrenches
    from elastocal.model.robot import RobotModel


@dataclass(frozen=True)
class LoadRequest:
    """As typed: force "fx,fy,fz" in N, moment "mx,my,mz" in N m, the frame (default tool), whether it turns with it."""

    force: str | None = None
    moment: str | None = None
    frame: str | None = None
    follow: bool = False

    @property
    def given(self) -> bool:
        return self.force is not None or self.moment is not None


@dataclass(frozen=True, eq=False)
class Pushing:
    """``applied`` is None where nothing was asked for; ``text`` is the load in words, ``frame`` where it acts."""

    applied: AppliedWrenches | None
    text: str
    notes: tuple[str, ...] = ()

    @property
    def frame(self) -> str | None:
        return None if self.applied is None else self.applied.frame

    def row(self, i: int) -> tuple[float, ...]:
        """The wrench on configuration ``i``: fx, fy, fz in N, mx, my, mz in N m."""
        if self.applied is None:
            return (0.0,) * 6
        rows = self.applied.wrench
        return tuple(float(v) for v in rows[i if len(rows) > 1 else 0])


def pushing(model: RobotModel, load: LoadRequest, at: Configurations) -> Pushing:
    """Wrench columns of a file come before --force and --moment."""
    import numpy as np

    from elastocal.model.loads.wrench import AppliedWrenches

    frame = load.frame or model.tool
    model.tree.frame(frame)
    axes = f"turning with {frame}" if load.follow else "in base axes"
    if at.wrenches is not None:
        notes = ("The wrench columns of the file are used in place of --force and --moment.",) if load.given else ()
        text = f"one wrench per configuration at {frame}, {axes}"
        return Pushing(AppliedWrenches(frame, at.wrenches, load.follow), text, notes)
    if not load.given:
        if load.follow:
            raise InputError("--follow needs a load; add --force or --moment")
        return Pushing(None, "no external load")
    force = numbers(load.force or "0,0,0", 3, f"--force {load.force!r}", "fx, fy, fz in N")
    moment = numbers(load.moment or "0,0,0", 3, f"--moment {load.moment!r}", "mx, my, mz in N m")
    wrench = np.array([[*force, *moment]])
    words = []
    if any(force) or not any(moment):
        words.append(f"force ({', '.join(f'{v:g}' for v in force)}) N")
    if any(moment):
        words.append(f"moment ({', '.join(f'{v:g}' for v in moment)}) N m")
    return Pushing(AppliedWrenches(frame, wrench, load.follow), f"{' and '.join(words)} at {frame}, {axes}")
