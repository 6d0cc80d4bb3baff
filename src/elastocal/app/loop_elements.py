"""Values from loops as elements of a robot file."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import TYPE_CHECKING

from elastocal.files.yaml_text import digits

if TYPE_CHECKING:
    from elastocal.app.commands.loops import Directions, JointResult
    from elastocal.loops.directions import DirectionFit
    from elastocal.loops.estimate import Estimate
    from elastocal.loops.principal import Principal

ALIGNED = 3.0
"""Standard deviations within which the axes of a play count as those of the frame."""


def elements_text(frame: str, directions: Directions | None, joints: tuple[JointResult, ...], file: str) -> str:
    """YAML for a robot file; what is not known stands as a comment with its reason."""
    frames, elements = list[str](), list[str]()
    if directions is not None:
        elements += _compliance(frame, directions.compliance)
        turned, lines = _backlash(frame, directions.half_gap)
        frames, elements = turned, elements + lines
    for j in joints:
        k, gap = j.values.compliance, j.values.half_gap
        elements += _line(f"{{kind: joint_compliance, joint: {j.joint}, k_rad_per_Nm: {_six(k.value)}", k)
        elements += _line(f"{{kind: joint_backlash, joint: {j.joint}, gap_rad: {_six(gap.value)}", gap)
    if not elements:
        return ""
    top = f"# From the loops in {file}; gaps are half of the play.\n"
    head = "joints:\n" + "".join(f"  {line}\n" for line in frames) if frames else ""
    return top + head + "elements:\n" + "".join(f"  {line}\n" for line in elements)


def _line(text: str, number: Estimate) -> list[str]:
    """An element, or why there is none: neither a spring nor a play is negative."""
    kind, place = (part.partition(": ")[2] for part in text.split(", ")[:2])
    if not number.known:
        return [f"# {kind} of {place}: not known, {number.reason}"]
    if number.value < 0:
        said = f"negative in these loops ({number.value:.3g} +- {number.sd:.2g}); see the notes"
        return [f"# {kind} of {place}: not known, {said}"]
    return [f"- {text}{_accuracy([number.sd])}}}"]


def _accuracy(sd: Sequence[float]) -> str:
    """What the element says of its accuracy; one standard deviation for each of its numbers."""
    said = ", ".join(f"{float(v):.2g}" for v in sd)
    return f", source: '+- {said} (one sd)'" if all(isfinite(v) for v in sd) else ""


def _compliance(frame: str, fit: DirectionFit) -> list[str]:
    import numpy as np

    if fit.suffices == "one number" or fit.principal is None:
        p = fit.isotropic
        return [
            *_rejected(fit),
            *_line(f"{{kind: link_compliance, frame: {frame}, form: isotropic, isotropic_m_per_N: {_six(p.value)}", p),
        ]
    if fit.principal.values[-1] < 0:
        return ["# link_compliance: not known, the matrix would be negative in some direction; measure in more"]
    entries = ", ".join(f"{n}: {_six(v)}" for n, v in zip(fit.names, fit.components, strict=True))
    said = _accuracy(list(np.sqrt(np.diag(fit.covariance))))
    return [*_rejected(fit), f"- {{kind: link_compliance, frame: {frame}, entries_SI: {{{entries}}}{said}}}"]


def _backlash(frame: str, fit: DirectionFit) -> tuple[list[str], list[str]]:
    """Frames to add, and elements: the element knows half axes along its frame, so a turned play has its own."""
    axes = fit.principal
    if fit.suffices == "one number" or axes is None:
        g = fit.isotropic
        text = f"{{kind: gripper_backlash, frame: {frame}, gap_m: {_six(g.value)}"
        return [], [*_rejected(fit), *_line(text, g)]
    half = [_six(v) for v in axes.values] + ["0"] * (3 - fit.dimension)
    order = _order(axes)
    at = frame if order else f"{frame}_play"
    gaps = ", ".join(half[i] for i in order or (0, 1, 2))
    said = _accuracy([axes.sd[i] for i in order or (0, 1, 2) if i < fit.dimension])
    frames = [] if order else [_turned(frame, at, axes)]
    return frames, [*_rejected(fit), f"- {{kind: gripper_backlash, frame: {at}, gap_m: [{gaps}]{said}}}"]


def _order(axes: Principal) -> tuple[int, ...]:
    """Which half axis lies along x, y, z of the frame; empty where they lie across (or in space)."""
    from math import pi

    if not isfinite(axes.angle):
        return ()
    quarter = round(axes.angle / (pi / 2))
    if abs(axes.angle - quarter * pi / 2) > ALIGNED * axes.angle_sd:
        return ()
    return (1, 0, 2) if quarter % 2 else (0, 1, 2)


def _turned(frame: str, name: str, axes: Principal) -> str:
    import numpy as np

    from elastocal.spatial.rotation import matrix_rpy

    turn, d = np.eye(3), len(axes.values)
    turn[:d, :d] = axes.axes
    rpy = ", ".join(_six(v + 0.0) for v in np.degrees(matrix_rpy(turn)))
    return f"- {{name: {name}, type: fixed, parent: {frame}, rpy_deg: [{rpy}]}}  # the tool stands on it: tool: {name}"


def _six(value: float) -> str:
    return digits(float(f"{value:.6g}"))


def _rejected(fit: DirectionFit) -> list[str]:
    if fit.suffices != "neither":
        return []
    what = "half gaps" if fit.root else "compliances"
    return [f"# the {what} of the directions reject this description; use it as a mean only"]
