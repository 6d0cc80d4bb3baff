"""Compliance and backlash from loops of force against displacement, by direction and for joints."""

from __future__ import annotations

from math import degrees, isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from elastocal.app.cells.roles import REPORT, Uses
from elastocal.app.cli import options as o
from elastocal.app.cli.command import command
from elastocal.app.commands.arcs import noise_of
from elastocal.errors import MissingError, RangeError
from elastocal.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from elastocal.procedures.loops import Loops
    from elastocal.procedures.loops.joints import LoopElement

_KEYS = {"k": "k_rad_per_Nm", "gap": "gap_rad", "isotropic": "isotropic_m_per_N"}


@dataclass(frozen=True, eq=False)
class LoopsResult:
    """``levers`` as typed; ``yaml`` are the elements for a robot file, of the gripper at ``frame``."""

    loops: Loops
    levers: tuple[str, ...]
    frame: str
    threshold: float
    yaml: str
    files: dict[Path, str]

    @property
    def notes(self) -> tuple[str, ...]:
        return tuple(w.text for w in self.loops.warnings)


@command("procedures", 6, Uses({"data": "loops"}, (REPORT,)), csv=True)
def loops(
    data: Annotated[
        Path,
        o.argument("DATA.csv", "Readings in order: force_N,displacement_um[,direction_deg][,cycle][,joint,lever_mm]."),
    ],
    lever: Annotated[
        list[str] | None, o.option("JOINT=MM", "Lever arm of a joint, from its axis to force and gauge; repeatable.")
    ] = None,
    at_gripper: Annotated[
        bool, o.flag("Joints were read at the gripper: take its own values off theirs.", "--at-gripper")
    ] = False,
    frame: Annotated[str, o.option("FRAME", "The gripper's frame in the robot file.")] = "gripper",
    noise_um: Annotated[
        float | None, o.option("UM", "Standard deviation of a reading (default: from the residuals).")
    ] = None,
    threshold: Annotated[float, o.option("N", "Forces and changes of force up to this are not told from zero.")] = 0.0,
    out: Annotated[Path | None, o.option("FILE.yaml", "Write the elements for the robot file."), o.WRITTEN] = None,
) -> LoopsResult:
    """Compliance, backlash, hysteresis from dial-gauge loops.

    Each direction by itself, all directions together as one number or a matrix with polar maps, joints by their lever
    arms, and the elements for the robot file.

    \b
    Example:
      elastocal loops loops.csv --lever J1=660 --lever J2=330 --report loops.html
    """
    from elastocal.app.configurations import positive_by_name
    from elastocal.files.tables.loops import read_loops
    from elastocal.procedures.loops import identify

    noise = noise_of(noise_um)
    if not (isfinite(threshold) and threshold >= 0):
        raise RangeError.of("threshold", threshold, "must be a force in N, zero or more")
    typed = tuple(lever or ())
    form = "write the joint and its lever in mm, such as J1=330"
    lengths = {j: 1e-3 * mm for j, mm in positive_by_name("lever", typed, form).items()}
    records = read_loops(data, threshold)
    identified = identify(records, levers=lengths, at_gripper=at_gripper, noise=noise)
    text = elements_text(identified.elements(frame), records[0].source)
    if out is not None and not text:
        raise MissingError.of("out", out, "these loops give no element; add direction_deg or a joint with its lever")
    return LoopsResult(identified, typed, frame, threshold, text, {} if out is None else {out: text})


def elements_text(elements: Sequence[LoopElement], file: str) -> str:
    """YAML for a robot file; what is not known stands as a comment with its reason."""
    if not elements:
        return ""
    frames = [line for e in elements for line in _frame(e)]
    head = "joints:\n" + "".join(f"  {line}\n" for line in frames) if frames else ""
    body = "".join(f"  {line}\n" for e in elements for line in _lines(e))
    return f"# From the loops in {file}; gaps are half of the backlash.\n{head}elements:\n{body}"


def _frame(element: LoopElement) -> Iterator[str]:
    if element.turn is not None:
        rpy = ", ".join(_six(degrees(v) + 0.0) for v in element.turn)
        name = element.place
        yield (
            f"- {{name: {name}, type: fixed, parent: {element.parent}, rpy_deg: [{rpy}]}}  # the tool stands on it: "
            f"tool: {name}"
        )


def _lines(element: LoopElement) -> Iterator[str]:
    kind, place = element.kind, element.place
    if element.mean:
        what = "half gaps" if kind == "gripper_backlash" else "compliances"
        yield f"# the {what} of the directions reject this description; use it as a mean only"
    if element.reason:
        yield f"# {kind} of {place}: not known, {element.reason}"
        return
    word = "joint" if kind.startswith("joint") else "frame"
    sd = ", ".join(f"{v:.2g}" for v in element.sd)
    source = f", source: '+- {sd} (one sd)'" if all(isfinite(v) for v in element.sd) else ""
    yield f"- {{kind: {kind}, {word}: {place}, {_numbers(element)}{source}}}"


def _numbers(element: LoopElement) -> str:
    values = [_six(v) for v in element.numbers.values()]
    if element.form == "entries":
        return f"entries_SI: {{{', '.join(f'{n}: {v}' for n, v in zip(element.numbers, values, strict=True))}}}"
    if element.kind == "gripper_backlash":
        return f"gap_m: {values[0]}" if len(values) == 1 else f"gap_m: [{', '.join(values)}]"
    (key,) = element.numbers
    form = f"form: {element.form}, " if element.form else ""
    return f"{form}{_KEYS[key]}: {values[0]}"


def _six(value: float) -> str:
    from elastocal.files.text import digits

    return digits(float(f"{value:.6g}"))
