"""What speaks against an identification of masses, in sentences."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from elastocal.app.commands.gravity import GravityResult
    from elastocal.gravity.fit import GravityFit
    from elastocal.gravity.hold_out import Judged

STRANGE = 5.0
"""Times more or less than expected: a torque that is hardly in the unit that its column names."""
WORSE = 1.25
"""Times the error of the robot file's masses: a fit that has been led astray."""
MISSED = 10.0
"""Times the scatter of the readings fitted: unseen readings that the fit knows nothing of."""
MOST_FAST = 0.3
NARROW = 0.35


def doubts(result: GravityResult) -> list[str]:
    import numpy as np

    found = result.found
    samples, ratio = found.samples, found.sense.ratio
    out = [*_gross(result), *_columns(found), *([] if result.judged is None else _missed(result.judged))]
    if samples.fast > MOST_FAST * samples.logged:
        out.append(
            f"INERTIA: {samples.fast} of {samples.logged} samples are left out, because the arm may accelerate too "
            "much in them; move more slowly."
        )
    if isfinite(ratio) and not 1 / STRANGE < ratio < STRANGE:
        out.append(f"THE TORQUES ARE {ratio:.3g} TIMES those expected: check their unit, or the masses in the file.")
    if samples.unmoved():
        out.append(f"Never moved: {', '.join(samples.unmoved())}; nothing is learned of their friction.")
    if np.max(np.ptp(samples.log.q, axis=0)) < NARROW:
        out.append("NO JOINT MOVES BY MORE THAN 20 deg: the log is shorter than one sweep, so most rests on the prior.")
    return out


def _gross(result: GravityResult) -> list[str]:
    cleaned = result.cleaned
    if not cleaned.gross:
        return []
    joints = sorted({j for _, j in cleaned.gross})
    log, units = cleaned.found.samples.log, cleaned.found.samples.units
    scatter = ", ".join(
        f"{log.joints[j]} {cleaned.found.noise[j]:.3g} {units[j]} (with them {cleaned.everything.noise[j]:.3g})"
        for j in joints
    )
    return [
        f"GROSS ERRORS: {len(cleaned.gross)} reading(s) left out ({cleaned.said()}); scatter without them: {scatter}."
    ]


def _columns(found: GravityFit) -> list[str]:
    """Joints whose torques are of another size or sign than the masses of the file let expect."""
    out = []
    for joint, factor in zip(found.model.joints, found.sense.factors, strict=True):
        if factor < 0:
            out.append(f"THE TORQUE OF {joint} HAS THE OTHER SIGN than the rest of the log: check its column.")
        if isfinite(factor) and not 1 / STRANGE < abs(factor) < STRANGE:
            out.append(
                f"THE TORQUE OF {joint} IS {abs(factor):.3g} TIMES what is expected: check its unit, or the file's "
                "masses."
            )
    return out


def _missed(judged: Judged) -> list[str]:
    """Joints that the fit predicts worse than the robot file does, or far worse than it was fitted."""
    rms, file = judged.rms(judged.error), judged.rms(judged.file_error)
    out = []
    for j, (joint, unit) in enumerate(zip(judged.samples.log.joints, judged.samples.units, strict=True)):
        why = []
        if rms[j] > WORSE * file[j]:
            why.append(f"the robot file's own masses to {file[j]:.3g}")
        if rms[j] > MISSED * judged.scatter[j]:
            why.append(f"the readings fitted to {judged.scatter[j]:.3g}")
        if why:
            out.append(
                f"DO NOT TRUST {joint}: unseen torques are predicted to {rms[j]:.3g} {unit} only, {' and '.join(why)}; "
                "check units and signs of the joint values and torques, or log more poses."
            )
    return out
