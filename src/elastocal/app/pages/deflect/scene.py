"""The arm of a deflection, unloaded and loaded, as a scene."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elastocal.app.pages.robot_scene import loaded_scene
from elastocal.report.blocks import Scene

if TYPE_CHECKING:
    from elastocal.app.commands.deflect import DeflectResult
    from elastocal.app.configurations import Configurations


def scenes(result: DeflectResult) -> tuple[Scene, ...]:
    """Nothing where no configuration has an equilibrium."""
    from elastocal.model.statics.equilibrium import Status

    if not (result.found.status == Status.CONVERGED).any():
        return ()
    good = result.found.status == Status.CONVERGED
    names = [name for name, g in zip(row_names(result.at), good, strict=True) if g]
    load = result.load.applied
    if load is not None and len(load.wrench) > 1:
        load = load.picked(good)
    return (loaded_scene("scene", "The arm under load", result.model, result.at.q[good], load, names, result.sag),)


def row_names(at: Configurations) -> list[str]:
    """What every configuration is called in a list."""
    given = at.names or ("",) * len(at)
    return [f"{i + 1}: {name}" if name else f"configuration {i + 1}" for i, name in enumerate(given)]
