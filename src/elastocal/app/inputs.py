"""Inputs and versions: written into every output, so that an answer can be traced and had again."""

from __future__ import annotations

import platform
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from elastocal import __version__
from elastocal.report.blocks import Fact
from elastocal.values import dataclass

if TYPE_CHECKING:
    from elastocal.app.applied_load import AppliedLoad
    from elastocal.files.campaign.file import CampaignFile
    from elastocal.model.robot import Robot


@dataclass(frozen=True)
class Inputs:
    """``payloads`` are mass in kg and frame; ``file`` is None for a shipped robot."""

    robot: str
    file: str | None
    tool: str
    watched: str
    load: str
    load_frame: str | None
    payloads: tuple[tuple[float, str], ...]
    left_out: tuple[str, ...]
    state: str
    configurations: str

    def facts(self) -> tuple[Fact, ...]:
        mass = sum(m for m, _ in self.payloads)
        hangs = ", ".join(frame for _, frame in self.payloads)
        carried = " and ".join(f"{m:g} kg at {frame}" for m, frame in self.payloads)
        where = self.file or "comes with the package"
        return (
            Fact("robot", "robot", self.robot, f"{self.robot} ({where})"),
            Fact("robot_file", "", self.file),
            Fact("tool", "tool frame", self.tool, self.tool),
            Fact("watched_frame", "watched frame", self.watched, self.watched),
            Fact("configurations", "configurations", self.configurations, self.configurations),
            Fact("load", "load", self.load, self.load),
            Fact("load_frame", "", self.load_frame),
            Fact("payload_kg", "payload", mass, carried or "none"),
            Fact("payload_frame", "", hangs or None),
            Fact("left_out", "left out", self.left_out, ", ".join(self.left_out) or "nothing"),
            Fact("state", "state", self.state, self.state),
        )


def inputs_of(
    word: str,
    model: Robot,
    load: AppliedLoad,
    watched: str,
    state: str,
    left_out: tuple[str, ...],
    configurations: str,
) -> Inputs:
    from elastocal.files.robot.read import robot_file
    from elastocal.model.loads.payload import Payload

    file = robot_file(word)
    payloads = tuple((float(e.mass), e.frame) for e in model.elements if isinstance(e, Payload))
    return Inputs(
        model.name, None if file is None else word, model.tool, watched, load.text, load.frame, payloads, left_out,
        state, configurations,
    )  # fmt: skip


def configurations_text(at: tuple[str, ...], file: Path | None, grid: str | None = None) -> str:
    """Where the configurations came from, as typed."""
    if grid is not None:
        return f"map {grid}" + (f" with the other axes of {at[0]}" if at else "")
    if file is not None:
        return str(file)
    return "; ".join(at[:8]) + (f"; ... {len(at)} in all" if len(at) > 8 else "") if at else "the robot has no joints"


FORMAT = "elastocal-result/1"


@cache
def versions() -> dict[str, str]:
    return {
        "elastocal": __version__,
        "python": platform.python_version(),
        **{name: metadata.version(name) for name in ("numpy", "scipy")},
    }


def given_by(word: str, file: CampaignFile) -> dict[str, Path | None]:
    """The campaign file under ``word``, its robot and its tables, as ``check_targets`` wants them."""
    own, *others = file.files
    return {word: own, **{f"{word} as {other.name}": other for other in others}}
