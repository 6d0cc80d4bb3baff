"""The load of a command: force and moment at a frame, typed once or given per configuration, and the payload.

With robot, frames and configurations it is among the inputs that a report names, so that an answer can be had again.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from elastocal.app.configurations import Configurations, numbers
from elastocal.errors import MissingError
from elastocal.report.blocks import Fact
from elastocal.values import dataclass

if TYPE_CHECKING:
    from pathlib import Path

    from elastocal.model.loads.wrench import AppliedWrenches
    from elastocal.model.robot import Robot
    from elastocal.spatial.entries import Array


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

    def wrench(self) -> Array:
        """Force and moment (6,), zero where only one of them is given."""
        import numpy as np

        force = numbers(self.force or "0,0,0", 3, f"--force {self.force!r}", "fx, fy, fz in N")
        moment = numbers(self.moment or "0,0,0", 3, f"--moment {self.moment!r}", "mx, my, mz in N m")
        return np.array([*force, *moment])


@dataclass(frozen=True, eq=False)
class AppliedLoad:
    """``applied`` is None where nothing was asked for; ``text`` is the load in words, ``frame`` where it acts."""

    applied: AppliedWrenches | None
    text: str
    notes: tuple[str, ...] = ()

    @property
    def frame(self) -> str | None:
        return None if self.applied is None else self.applied.frame


def applied_load(model: Robot, load: LoadRequest, at: Configurations) -> AppliedLoad:
    """Wrench columns of a file come before --force and --moment."""
    from elastocal.model.loads.wrench import AppliedWrenches

    frame = load.frame or model.tool
    model.tree.frame(frame)
    axes = f"turning with {frame}" if load.follow else "in base axes"
    if at.wrenches is not None:
        notes = ("The wrench columns of the file are used in place of --force and --moment.",) if load.given else ()
        text = f"one wrench per configuration at {frame}, {axes}"
        return AppliedLoad(AppliedWrenches(frame, at.wrenches, load.follow), text, notes)
    if not load.given:
        if load.follow:
            raise MissingError("--follow needs a load; add --force or --moment")
        return AppliedLoad(None, "no external load")
    wrench = load.wrench()[None]
    force, moment = wrench[0, :3], wrench[0, 3:]
    words = []
    if any(force) or not any(moment):
        words.append(f"force ({', '.join(f'{v:g}' for v in force)}) N")
    if any(moment):
        words.append(f"moment ({', '.join(f'{v:g}' for v in moment)}) N m")
    return AppliedLoad(AppliedWrenches(frame, wrench, load.follow), f"{' and '.join(words)} at {frame}, {axes}")


def with_payload(model: Robot, mass: float | None, frame: str | None) -> Robot:
    """The model carrying ``mass`` at ``frame`` (default: where its payload is, else the tool)."""
    from elastocal.model.loads.payload import Payload

    if mass is None:
        if frame is not None:
            raise MissingError("--payload-frame says where, but not how much; add --payload with the mass in kg")
        return model
    carried = next((e for e in model.elements if isinstance(e, Payload)), None)
    if carried is None:
        return model.with_elements(Payload(frame=frame or model.tool, mass=mass, source="command line"))
    stays = frame in (None, carried.frame)
    share = mass / carried.mass if stays and carried.mass > 0 else 0.0
    x, y, z = (share * m for m in carried.moment)
    new = Payload(frame=frame or carried.frame, mass=mass, moment=(x, y, z), source="command line")
    return replace(model, elements=tuple(new if e is carried else e for e in model.elements))


def load_facts(
    word: str, model: Robot, load: AppliedLoad, watched: str, state: str, left_out: tuple[str, ...],
    configurations: str, file: str | None = None,
) -> tuple[Fact, ...]:  # fmt: skip
    """What an answer rests on; ``file`` where it is not the one that the ``word`` for the robot names."""
    from elastocal.files.robot.read import robot_file
    from elastocal.model.loads.payload import Payload

    file = file or (None if robot_file(word) is None else word)
    payloads = [e for e in model.elements if isinstance(e, Payload)]
    carried = " and ".join(f"{e.mass:g} kg at {e.frame}" for e in payloads)
    return (
        Fact("robot", "robot", model.name, f"{model.name} ({file or 'comes with the package'})"),
        Fact("robot_file", "", file),
        Fact("tool", "tool frame", model.tool),
        Fact("watched_frame", "watched frame", watched),
        Fact("configurations", "configurations", configurations),
        Fact("load", "load", load.text),
        Fact("load_frame", "", load.frame),
        Fact("payload_kg", "payload", sum(float(e.mass) for e in payloads), carried or "none"),
        Fact("payload_frame", "", ", ".join(e.frame for e in payloads) or None),
        Fact("left_out", "left out", left_out, ", ".join(left_out) or "nothing"),
        Fact("state", "state", state),
    )


def configurations_text(at: tuple[str, ...], file: Path | None, grid: str | None = None) -> str:
    """Where the configurations came from, as typed."""
    if grid is not None:
        return f"map {grid}" + (f" with the other axes of {at[0]}" if at else "")
    if file is not None:
        return str(file)
    return "; ".join(at[:8]) + (f"; ... {len(at)} in all" if len(at) > 8 else "") if at else "the robot has no joints"
