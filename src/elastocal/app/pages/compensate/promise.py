"""What a compensation promises, what the promise leaves out, and whether a robot taken for true keeps it."""

from __future__ import annotations

from collections import Counter
from math import isfinite
from typing import TYPE_CHECKING

from elastocal.app.calibration_files import MASSES, MOST, assumed_masses, exact_in
from elastocal.app.commands.compensate import CompensateResult
from elastocal.app.pages.compensate.tables import half_width
from elastocal.quantities import length

if TYPE_CHECKING:
    from collections.abc import Mapping


GEOMETRY = ("frame_error", "joint_offset")
WEIGHT = (*MASSES, "gravity_compensator")
BROKEN = 2.0
"""Times the expected rms that the truth is hardly off by chance: two standard deviations where one direction rules."""


def promise(result: CompensateResult) -> tuple[str, ...]:
    """The expectation, what is not in it, and the truth beside it where there is one."""
    out = [_expectation(result), *_left_out(result), *_on_assumed_weight(result)]
    return tuple(out) if result.on_truth is None else (*out, _truth(result))


def _expectation(result: CompensateResult) -> str:
    import numpy as np

    if result.covariance is None:
        return "How far the real robot will be off is not known: there is no calibration."
    if not result.corrected.any():
        return "No target is corrected."
    worst = float(np.nanmax(half_width(result)[result.corrected]))
    known = result.robot.known is not None and isfinite(result.robot.known.discrepancy)
    model = (
        "the model's own discrepancy included" if known else "the model's own discrepancy not known and not included"
    )
    return (
        f"At corrected targets the real tool is expected to be off by {length(expected(result))} rms, and by less than "
        f"{length(worst)} at 95 % confidence along the worst direction of the worst target ({model})."
    )


def expected(result: CompensateResult) -> float:
    """Root mean square of the distances that are expected at corrected targets, in m."""
    import numpy as np

    assert result.covariance is not None
    return float(np.sqrt(np.nanmean(np.einsum("nii->n", result.covariance[result.corrected, :3, :3]))))


def _left_out(result: CompensateResult) -> tuple[str, ...]:
    """What counts as exact in the expectation; geometry and weight are in taught targets already."""
    record = result.robot.record
    if record is None:
        return ()
    kind = {p.name: p.kind for p in result.robot.model.parameters}
    taught, exact = result.request.taught, exact_in(record)
    if taught:
        exact = tuple(n for n in exact if kind[n] not in (*GEOMETRY, *WEIGHT))
    sought = any(kind[n] in GEOMETRY for n in record.names)
    lengths = "lengths and joint zeros of the robot file" + (" that were not sought" if sought else "")
    named = [*(() if taught else (lengths,)), *((f"what was not sought ({_words(exact, kind)})",) if exact else ())]
    if not named:
        return ()
    rms = result.shares.weight.distances().rms
    weight = f" {length(rms)} rms of the correction come from the weight of the arm and of what it carries."
    return (f"NOT IN THIS, taken as exact: {' and '.join(named)}.{'' if taught or not rms > 0 else weight}",)


def _words(names: tuple[str, ...], kind: Mapping[str, str]) -> str:
    """The names, or how many there are of each effect where they are many."""
    if len(names) <= MOST:
        return ", ".join(names)
    return ", ".join(f"{n} of {k.replace('_', ' ')}" for k, n in Counter(kind[name] for name in names).items())


def _on_assumed_weight(result: CompensateResult) -> tuple[str, ...]:
    """Where assumed masses make most of the correction."""
    weight, total = (part.distances().rms for part in (result.shares.assumed, result.shares.total))
    record = result.robot.record
    if record is None or result.request.taught or not weight > 0.5 * total:
        return ()
    places = dict.fromkeys(n.split(".")[0] for n in assumed_masses(result.robot.model, record.names))
    return (
        f"MOST OF THE CORRECTION RESTS ON ASSUMED WEIGHTS: {length(weight)} of {length(total)} rms come from masses "
        f"that the robot file calls an assumption ({', '.join(places)}). If these points were taught with the real "
        "robot, or their base was measured with it, use --taught: what the load adds is then corrected, and nothing "
        "else. Else measure the weights: by absolute positions (docs/campaigns.md, 'Positions: geometry, weights and "
        "springs at once') or logged torques (elastocal gravity).",
    )


def _truth(result: CompensateResult) -> str:
    import numpy as np

    from elastocal.compensate.verification import Summary, Verification

    assert result.on_truth is not None
    before, after = result.on_truth
    first, last = before.distances(), after.distances()
    said = (
        f"On the robot taken for true: {1e3 * first.rms:.4g} mm rms before, {1e3 * last.rms:.4g} mm after, "
        f"{Verification(before, after).compensated_percent:.2f} % compensated; at most {1e3 * last.largest:.4g} mm."
    )
    good = result.corrected
    if result.covariance is None or not good.any():
        return said
    left, hoped = Summary.of(np.linalg.norm(after.position[good], axis=1)).rms, expected(result)
    if not left > BROKEN * hoped:
        return said
    return (
        f"{said} THAT IS {left / hoped:.3g} TIMES WHAT WAS EXPECTED ({length(left)} for {length(hoped)} rms): "
        "something that counts as exact is not."
    )
