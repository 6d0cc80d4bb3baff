"""What speaks against an identification of masses: outliers, units, signs, inertia, motion that is too small.

Outliers are readings that are no torques of this arm, spikes of a sensor, slips of a hand.  Every reading is judged by
its deletion residual (``solve.deletion``), with the scale of each joint by the median size of its residuals, which
spikes hardly move, and less those of its neighbours: what the model lacks changes slowly and is no slip, however large.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from math import isfinite

import numpy as np

from elastocal.procedures.gravity.fit import GravityFit
from elastocal.procedures.gravity.misfit import STRANGE
from elastocal.procedures.gravity.motors import SIGNIFICANT, Proposal, braking
from elastocal.procedures.gravity.prediction import Validation, predict_reading
from elastocal.procedures.gravity.samples import Samples
from elastocal.results import Finding, note, warning
from elastocal.solve.deletion import deletion
from elastocal.solve.evidence import posterior
from elastocal.spatial.entries import Array, Bools
from elastocal.values import dataclass

BEYOND = 8.0
"""Studentised deletion residuals: chance or ripple does not go there."""
MOST = 0.05
"""Share of a joint's readings; more are no slips but something that the model lacks."""
RUN = 3
"""Readings in a row that may be slips; longer runs are what the model lacks."""
FINEST = 1e-3
"""Share of a joint's torque that is not worth naming, however quiet the log is."""
MAD = 1.4826
"""Standard deviations of a normal law in one median absolute deviation."""


@dataclass(frozen=True, eq=False)
class Screened:
    """``fit`` is without the readings ``outliers`` (row, joint) of ``everything``, the fit with them."""

    fit: GravityFit
    everything: GravityFit
    outliers: tuple[tuple[int, int], ...]

    def text(self) -> str:
        """Every outlier with what the fit without it has there; empty where there is none."""
        samples = self.everything.samples
        log, units = samples.log, samples.units
        expected = predict_reading(self.fit, samples).reading if self.outliers else log.torque
        named = [
            f"{log.place(r)}, torque of {log.joints[j]} = {samples.torque[r, j]:.4g} {units[j]} "
            f"({expected[r, j]:.3g} by the fit)"
            for r, j in self.outliers
        ]
        return "; ".join(named)


def screen(fit: Callable[[Samples], GravityFit], samples: Samples) -> Screened:
    everything = fit(samples)
    mask = outlying_readings(everything)
    if not mask.any():
        return Screened(everything, everything, ())
    fitted = fit(replace(samples, torque=np.where(mask, np.nan, samples.torque)))
    return Screened(fitted, everything, tuple((int(r), int(j)) for r, j in np.argwhere(mask)))


def outlying_readings(fit: GravityFit) -> Bools:
    """(N, n): deletion residuals off their neighbours by more than 8 sd, none where more than 5 % of a joint's are."""
    blocks, residuals = fit.solved.blocks, fit.residuals
    size = np.array([_robust(r, t) for r, t in zip(residuals.T, fit.samples.torque.T, strict=True)])
    judged = deletion(posterior(blocks, np.concatenate([np.zeros(len(blocks.groups)), np.log(size)])))
    student = np.sign(judged.pull) * np.sqrt(judged.number_chi2())
    out = np.zeros(student.shape, dtype=bool)
    for j in range(student.shape[1]):
        known = np.flatnonzero(blocks.used[:, j])
        far = _from_neighbours(student[known, j]) > BEYOND if len(known) else np.zeros(0, dtype=bool)
        if far.sum() <= MOST * len(known):
            out[known[far], j] = True
    return out


def _robust(residuals: Array, torque: Array) -> float:
    known = residuals[np.isfinite(residuals)]
    if not len(known):
        return 1.0
    return max(MAD * float(np.median(np.abs(known))), FINEST * float(np.nanmedian(np.abs(torque))), 1e-9)


def _from_neighbours(column: Array) -> Array:
    """Distance of every number from the median of itself and the three before and after it."""
    padded = np.pad(column, RUN, mode="edge")
    windows = np.lib.stride_tricks.sliding_window_view(padded, 2 * RUN + 1)
    return np.asarray(np.abs(column - np.median(windows, axis=1)))


WORSE = 1.25
"""Times the error of the robot file's masses: a fit that has been led astray."""
MISSED = 10.0
"""Times the scatter of the readings fitted: unseen readings that the fit knows nothing of."""
MOST_FAST = 0.3
NARROW = 0.35


def warnings(screened: Screened, validation: Validation | None, proposal: Proposal | None = None) -> Iterator[Finding]:
    """Of a fit and of its validation, loudest first."""
    arm = screened.fit
    samples, ratio = arm.samples, arm.sense.ratio
    if screened.outliers:
        yield _outliers(screened)
    yield from _columns(arm)
    reversed_ = [j for j, factor in zip(arm.model.joints, arm.sense.factors, strict=True) if factor < 0]
    if drives := {j: r for j, r in braking(arm).items() if r < -SIGNIFICANT and j not in reversed_}:
        yield warning(
            "friction-drives",
            f"FRICTION OF {', '.join(drives)} DRIVES THE ARM (down to {-min(drives.values()):.0f} sd below zero), "
            "which it cannot: check the signs of torques and joint values.",
            joints=", ".join(drives),
            least=min(drives.values()),
        )
    if validation is not None:
        yield from _missed(validation)
    if proposal is not None:
        yield _proposed(proposal)
    if samples.fast > MOST_FAST * samples.logged:
        yield warning(
            "inertia",
            f"INERTIA: {samples.fast} of {samples.logged} samples are left out, because the arm may accelerate too "
            "much in them; move more slowly, or model the inertia.",
            fast=samples.fast,
            logged=samples.logged,
        )
    if isfinite(ratio) and not 1 / STRANGE < ratio < STRANGE:
        message = f"THE TORQUES ARE {ratio:.3g} TIMES those expected: check their unit, or the masses in the file."
        yield warning("unit-of-torques", message, ratio=ratio)
    if arm.outdone.any():
        yield _kept(arm)
    for joint, why in samples.refused.items():
        yield note("refused", f"Nothing is said of {joint}: {why}.", joint=joint)
    if still := ", ".join(samples.unmoved()):
        yield note("unmoved", f"Never moved: {still}; nothing is learned of their friction.", joints=still)
    if np.max(np.ptp(samples.log.q, axis=0)) < NARROW:
        yield warning(
            "narrow",
            "NO JOINT MOVES BY MORE THAN 20 deg: the log is shorter than one sweep, so most rests on the prior.",
        )


def _kept(arm: GravityFit) -> Finding:
    """Joints whose predictions are not those of the masses fitted, and how far the two are apart."""
    joints, units = (np.array(names)[arm.outdone] for names in (arm.model.joints, arm.samples.units))
    apart = arm.weight_columns(arm.samples.q)[:, arm.outdone] @ (arm.values - arm.unknowns.file)
    rms = np.sqrt(np.mean(apart**2, axis=0))
    each = ", ".join(f"{j} {r:.3g} {u}" for j, r, u in zip(joints, rms, units, strict=True))
    masses = (
        f"A robot with the masses fitted differs there by (RMS) {each}."
        if arm.improves
        else "No joint is predicted better by the masses fitted: the robot file's stay."
    )
    return note(
        "file-kept",
        f"Predictions of {', '.join(joints)} keep the robot file's masses, which predict stretches of the log left "
        f"out nearly as well as the fit or better. {masses}",
        joints=", ".join(joints),
        apart=rms.tolist(),
    )


def _outliers(screened: Screened) -> Finding:
    joints = sorted({j for _, j in screened.outliers})
    log, units = screened.fit.samples.log, screened.fit.samples.units
    scatter = ", ".join(
        f"{log.joints[j]} {screened.fit.noise[j]:.3g} {units[j]} (with them {screened.everything.noise[j]:.3g})"
        for j in joints
    )
    count = len(screened.outliers)
    return warning(
        "outliers",
        f"OUTLIERS: {count} reading(s) left out ({screened.text()}); scatter without them: {scatter}.",
        count=count,
    )


def _proposed(proposal: Proposal) -> Finding:
    label = proposal.coupled.label
    scatter = ", ".join(
        f"{j} {b:.3g} to {a:.3g}" for j, b, a in zip(proposal.joints, proposal.before, proposal.after, strict=True)
    )
    return warning(
        "coupled-motor",
        f"A COUPLED MOTOR: friction goes with {label}; taking it so brings the scatter of {scatter} (evidence "
        f"{proposal.evidence:.0f}). If the drive is built so, write 'coupled: [{label}]' under controller in the robot "
        "file.",
        coupled=label,
        evidence=proposal.evidence,
    )


def _columns(arm: GravityFit) -> Iterator[Finding]:
    """Joints whose torques are of another size or sign than the masses of the file let expect."""
    for joint, factor in zip(arm.model.joints, arm.sense.factors, strict=True):
        data = {"joint": joint, "factor": float(factor)}
        if factor < 0:
            message = f"THE TORQUE OF {joint} HAS THE OTHER SIGN than the rest of the log: check its column."
            yield warning("sign-of-torque", message, **data)
        if isfinite(factor) and not 1 / STRANGE < abs(factor) < STRANGE:
            message = (
                f"THE TORQUE OF {joint} IS {abs(factor):.3g} TIMES what is expected: check its unit, or the file's "
                "masses."
            )
            yield warning("unit-of-torque", message, **data)


def _missed(validation: Validation) -> Iterator[Finding]:
    """Joints that the fit predicts worse than the robot file does, or far worse than it was fitted."""
    rms, file = validation.rms(validation.error), validation.rms(validation.file_error)
    for j, (joint, unit) in enumerate(zip(validation.samples.log.joints, validation.samples.units, strict=True)):
        why = []
        if rms[j] > WORSE * file[j]:
            why.append(f"the robot file's own masses to {file[j]:.3g}")
        if rms[j] > MISSED * validation.scatter[j]:
            why.append(f"the readings fitted to {validation.scatter[j]:.3g}")
        if why:
            yield warning(
                "validation-error",
                f"DO NOT TRUST {joint}: unseen torques are predicted to {rms[j]:.3g} {unit} only, {' and '.join(why)}; "
                "check units and signs of the joint values and torques, or log more poses.",
                joint=joint,
                rms=float(rms[j]),
                file_rms=float(file[j]),
            )
