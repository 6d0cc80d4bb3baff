"""A robot file that is not this robot: residuals beyond noise, and the slip that would explain them.

A joint is misfitted where its residuals are far larger than what neighbouring ones differ by (noise, through the filter
of the readings) and a share of its torque.  Friction, gears and inertia leave some of that in any log; a slip leaves
more, and put right it takes nearly all away.  So each is tried on some hundred samples: those of joint values
(``measure.slips``), other zeros, torques of another sign or by a factor, a base that is tilted.  With friction as it
is, masses as well known as the prior says, and each joint weighing as it scatters, the evidence of a slip is

    N sum_j log(s_j / s'_j) + (chi2 - chi2') / 2                                                        (evidence)

s_j and s'_j what the fit without and with it leaves, N as if so many readings of a joint were independent (what misfits
tells of itself that they are not), chi2 how far masses stray from the file's by their prior.  The largest is the likely
cause where it is clear; those that do nearly as well are named too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from elastocal.measure.slips import axis_slips
from elastocal.procedures.gravity.fit import GravityFit
from elastocal.procedures.gravity.samples import Samples
from elastocal.procedures.gravity.unknowns import bodies_columns, turned_weight
from elastocal.results import Finding, warning
from elastocal.solve.dependent import mean_square
from elastocal.spatial.entries import Array, Bools
from elastocal.values import dataclass

ROUGH = 5.0
"""Times the difference of neighbouring residuals from which the rest is no noise."""
SHARE = 0.03
"""Share of a joint's torque from which such a rest is looked into ..."""
STRANGE = 5.0
"""Times more or less than expected: a torque that is hardly in the unit that its column names."""
LARGE = 0.25
"""... and from which it is said without any cause."""
TRIED = 400
"""Samples that slips are tried on."""
CONFLICT = 4.0
"""Standard deviations between a mass (or moment) and what the prior says of it."""
CLEAR = 20.0
"""Evidence (natural logarithm) from which a slip is named."""
REMOVES = 0.7
"""Share of the residuals of some misfitted joint that a slip may leave."""
NEARLY = 0.9
"""Share of the best evidence from which a slip is named beside it."""
ANGLES = np.radians([3.0, 10.0, 25.0, 50.0])
FACTORS = np.log([1.2, 1.5, 2.0, 10.0, 100.0, 1000.0])
"""Errors of a zero and of the factor of a torque from which the nearest is looked for, either way."""
REFINED, FINER = 7, 0.5
FREE = 1e-12
"""Precision of what is not known beforehand."""
WORTH = 50.0
"""Independent readings of a joint, for the evidence."""
ROUNDS = 5
"""Of a fit and its noise."""


@dataclass(frozen=True, eq=False)
class Slip:
    """``word`` names it, ``text`` says what is likely wrong, ``size`` an angle (rad) or a factor where it has one."""

    word: str
    text: str
    evidence: float
    size: float | None = None


@dataclass(frozen=True, eq=False)
class Misfit:
    """``joints`` (n,) are those that the model does not fit, ``residual`` (n,) what it leaves of them, ``share`` (n,)
    of their torque, ``conflict`` the largest of a mass or moment with its prior in standard deviations, ``slips`` the
    likely causes, best first."""

    joints: Bools
    residual: Array
    share: Array
    conflict: float
    slips: tuple[Slip, ...]

    def finding(self, fit: GravityFit) -> Finding:
        names = [fit.model.joints[j] for j in np.flatnonzero(self.joints)]
        what = f"masses would have to be {self.conflict:.3g} sd off what is known of them"
        data: dict[str, Any] = {"joints": ", ".join(names), "conflict": self.conflict}
        if names:
            worst = int(np.argmax(np.where(self.joints, self.residual, 0.0)))
            what = (
                f"{self.residual[worst]:.3g} {fit.samples.units[worst]} of the torque of {fit.model.joints[worst]} "
                f"remain ({100 * self.share[worst]:.0f} %), beyond noise and masses that are off as the prior says"
            )
            data |= {"residual": float(self.residual[worst]), "share": float(self.share[worst])}
        if self.slips:
            data |= {"cause": self.slips[0].word, "size": self.slips[0].size, "alike": [s.word for s in self.slips[1:]]}
        wider = f" Intervals of {', '.join(names)} are widened by it." if names else ""
        return warning("model-misfit", f"THE ROBOT FILE DOES NOT FIT THIS LOG: {what}; {self._cause()}.{wider}", **data)

    def named(self, fit: GravityFit) -> bool:
        """Whether the cause is a torque column that is called out by its sign or size already."""
        factors = zip(fit.model.joints, fit.sense.factors, strict=True)
        strange = [j for j, factor in factors if factor < 0 or not 1 / STRANGE < abs(factor) < STRANGE]
        return bool(self.slips) and any(self.slips[0].word.startswith(f"torque of {j} ") for j in strange)

    def _cause(self) -> str:
        if self.slips:
            return "likely " + "; or ".join(s.text for s in self.slips)
        return "check mounting, zeros, signs, the order of columns, gear ratios, springs and payload"


def misfit_of(fit: GravityFit) -> Misfit | None:
    """None where the model fits the log."""
    rough = np.array([_roughness(r) for r in fit.residuals.T])
    size = np.nan_to_num(np.sqrt(mean_square(fit.samples.torque)), nan=np.inf)
    noise = np.nan_to_num(fit.noise)
    beyond = (noise > ROUGH * rough) & (noise > SHARE * size)
    bodies = slice(fit.unknowns.of_bodies)
    conflict = float(np.max(np.abs(fit.values - fit.unknowns.file)[bodies] / fit.unknowns.sd[bodies], initial=0.0))
    if not (beyond.any() or conflict > CONFLICT):
        return None
    slips = sorted(_Trial.of(fit).slips(beyond & (conflict <= CONFLICT)), key=lambda s: -s.evidence)
    slips = [s for s in slips if s.evidence > max(CLEAR, NEARLY * slips[0].evidence)]
    if not slips and not np.any(beyond & (noise > LARGE * size)):
        return None
    return Misfit(beyond, noise, noise / size, conflict, tuple(slips))


def _roughness(residuals: Array) -> float:
    """Standard deviation by differences of neighbours, inf where there are none."""
    known = residuals[np.isfinite(residuals)]
    return float(np.sqrt(np.mean(np.diff(known) ** 2) / 2)) if len(known) > 1 else np.inf


@dataclass(frozen=True, eq=False)
class _Trial:
    """Some samples with the columns of all that is no body, ``other`` (N, n, k), and what the fit as it is leaves."""

    fit: GravityFit
    samples: Samples
    other: Array
    y: Array
    used: Bools
    scatter: Array
    chi2: float

    @classmethod
    def of(cls, fit: GravityFit) -> _Trial:
        count = fit.samples.log.count
        some = np.arange(count) % (-(-count // TRIED)) == 0
        unknowns, part = fit.unknowns, fit.samples.part(some)
        columns = unknowns.columns(fit.samples, fit.sense.sign)[some]
        y = fit.sense.sign * part.torque - unknowns.fixed_torque(part)
        known = np.array([i for i in fit.kept if i >= unknowns.of_bodies], dtype=np.int64)
        bare = cls(fit, part, columns[:, :, known], y, np.isfinite(y), np.nan_to_num(fit.noise, nan=1.0), 0.0)
        scatter, chi2 = bare.solved(columns[:, :, : unknowns.of_bodies])
        return replace(bare, scatter=scatter, chi2=chi2)

    def solved(self, bodies: Array, more: Array | None = None, y: Array | None = None) -> tuple[Array, float]:
        """Scatter (n,) and chi2 of the prior with other columns of the bodies, with more, or with other torques."""
        fit, weigh = self.fit, self.fit.unknowns.of_bodies
        x = np.concatenate([bodies, self.other, *([] if more is None else [more])], axis=2)
        mean, prior = np.zeros(x.shape[2]), np.full(x.shape[2], FREE)
        mean[:weigh] = fit.unknowns.file[:weigh]
        known = [*range(weigh), *(i for i in fit.kept if i >= weigh)]
        prior[: len(known)] += np.where(np.isfinite(fit.unknowns.sd[known]), fit.unknowns.sd[known], np.inf) ** -2.0
        left, scatter = np.where(self.used, self.y if y is None else y, 0.0) - x @ mean, self.scatter
        for _ in range(ROUNDS):
            white = (x * (self.used / scatter)[:, :, None]).reshape(-1, x.shape[2])
            normal = white.T @ white + np.diag(prior)
            step = np.linalg.solve(normal, white.T @ (left * self.used / scatter).reshape(-1))
            scatter = np.sqrt(mean_square(np.where(self.used, left - x @ step, np.nan)))
            scatter = np.where(scatter > 0, scatter, 1.0)
        return scatter, float(step[:weigh] ** 2 @ prior[:weigh])

    def evidence(self, wrong: Bools, scatter: Array, chi2: float) -> float:
        """Zero where it leaves most of every joint that is ``wrong``, if there are such."""
        ratio = scatter / self.scatter
        if wrong.any() and not np.any(ratio[wrong] < REMOVES):
            return 0.0
        return -WORTH * float(np.sum(np.log(ratio))) + 0.5 * (self.chi2 - chi2)

    def moved(self, turn: Array, shift: Array) -> Array:
        """Columns of the bodies with what the controller shows of its axes turned and shifted."""
        samples, controller = self.samples, self.fit.model.controller
        inverse = np.linalg.inv(controller.matrix)
        joints = controller.matrix @ turn @ inverse
        motion = replace(
            samples.motion,
            velocity=samples.motion.velocity @ joints.T,
            acceleration=samples.motion.acceleration @ joints.T,
        )
        q = controller.to_joints(controller.to_controller(samples.log.q) @ turn.T + shift)
        unknowns = self.fit.unknowns
        return bodies_columns(
            unknowns.model, unknowns.bodies, replace(samples, log=replace(samples.log, q=q), motion=motion)
        )

    def slips(self, wrong: Bools) -> Iterator[Slip]:
        model, unknowns = self.fit.model, self.fit.unknowns
        one, plain = np.eye(model.n), self.moved(np.eye(model.n), np.zeros(model.n))
        tilt = self.evidence(wrong, *self.solved(plain, turned_weight(unknowns.model, unknowns.bodies, self.samples.q)))
        yield Slip("tilt", "the base is not mounted as the file says (find the mounting, or state it there)", tilt)
        for slip in axis_slips(model):
            if not (slip.unit or slip.coupling):
                evidence = self.evidence(wrong, *self.solved(self.moved(slip.turn, slip.shift)))
                yield Slip(slip.word, slip.text, evidence)
        for j, joint in enumerate(model.joints):
            opposite = self.y * (1 - 2 * one[j])
            yield Slip(
                f"torque of {joint} reversed",
                f"the torque of {joint} has the other sign; turn it",
                self.evidence(wrong, *self.solved(plain, y=opposite)),
            )

            def scaled(size: float, j: int = j) -> float:
                by = np.exp(size * one[j])
                scatter, chi2 = self.solved(plain, y=self.y / by)
                return self.evidence(wrong, scatter * by, chi2)

            size, evidence = _best(scaled, FACTORS)
            text = f"the torque of {joint} is {np.exp(size):.3g} times what it should be; check its gear ratio and unit"
            yield Slip(f"torque of {joint} by a factor", text, evidence, float(np.exp(size)))
        for j, axis in enumerate(model.controller.axes):
            if model.motions[j].kind == "revolute":

                def shifted(size: float, j: int = j) -> float:
                    return self.evidence(wrong, *self.solved(self.moved(one, -size * one[j])))

                size, evidence = _best(shifted, ANGLES)
                text = f"the zero of axis {axis} is {np.degrees(size):.3g} deg off; correct it"
                yield Slip(f"zero of {axis}", text, evidence, size)


def _best(evidence: Callable[[float], float], sizes: Array) -> tuple[float, float]:
    """The size, of either sign, with the largest evidence, and how large that is."""
    tried = {float(s): evidence(float(s)) for s in (*sizes, *-sizes)}
    best = max(tried, key=lambda s: tried[s])
    step = FINER * abs(best)
    for _ in range(REFINED if tried[best] > CLEAR else 0):
        tried |= {s: evidence(s) for s in (best - step, best + step)}
        best, step = max(tried, key=lambda s: tried[s]), FINER * step
    return best, tried[best]
