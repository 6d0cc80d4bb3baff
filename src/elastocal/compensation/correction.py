"""A corrected program: commands, corrections, residual errors and status of every target, and the new files.

What it is left off by as a whole counts targets that stay as they are.  At a target the squares of two errors add up:
what the model is left off by with the new digits, which is rounding where the target is corrected, and the residual
error that the covariance of the calibration predicts.
"""

from __future__ import annotations

from functools import cached_property
from math import isfinite
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from elastocal.arguments import checked
from elastocal.compensation.along import Along
from elastocal.compensation.commands import Commands
from elastocal.compensation.contributions import Contributions
from elastocal.compensation.job import Job
from elastocal.compensation.process import StationLoads
from elastocal.compensation.program import Changes, Program, Skipped
from elastocal.compensation.targets import TargetStatus
from elastocal.compensation.verification import Residual
from elastocal.model.robot import Robot
from elastocal.quantities import millimetres, quantile_95
from elastocal.reduction.prediction import IdentifiedModel, Prediction
from elastocal.results import Finding, as_frame, as_html, shortened
from elastocal.solve.summary import rms
from elastocal.spatial.entries import Array, Bools
from elastocal.values import dataclass

if TYPE_CHECKING:
    from elastocal.model.robot import Robot


CHORD = 5e-6
"""m that chords may be from arcs of G-code."""

NOTHING = 1e-9
"""m below which a tool is where it should be: rounding of the computation."""
BETWEEN, SHARE = 1e-5, 0.01
"""m, and the share of what it was off by, that the tool may be off between targets of a program that is called
corrected."""
SLACK = 1.1
"""Times the tolerance of inserted points from which it is not kept: next to the places that are looked at, too."""

IMPLAUSIBLE = "implausible-correction"
"""Code of the warning, and of the refusal, of corrections that are larger than those of arms."""
SHIFTED = "orientation-of-another"
"""Code of the warning of targets that are shifts of others and have their orientation."""


@dataclass(frozen=True)
class Method:
    """How a program was corrected; ``densify`` and ``chord`` in m."""

    flange: str
    position_only: bool = False
    taught: bool = False
    first_order: bool = False
    densify: float | None = None
    chord: float = CHORD


@dataclass(frozen=True, eq=False, repr=False)
class Correction:
    """A corrected program.  Arrays are over its stations: targets where they are first used, and points on arcs.

    ``commands`` are joint values without and with correction and the status of each; ``before`` and ``after`` the
    residuals by the model, of the program as it was and as its new digits are written; ``along`` says how far the tool
    leaves the way between targets; ``shift`` (S, 6) is the correction, commanded minus stated pose in m and rad, robot
    axes.  ``covariance`` (S, 6, 6) is that of the residual error predicted after correction, None where the accuracy of
    the model is not known.  ``on_truth`` are residuals before and after on a simulated true robot; ``left`` the motions
    that stay as they are; ``files`` the new program; ``end`` what the control holds behind its last line, where lines
    rest on those before.
    """

    known: IdentifiedModel | None
    method: Method
    job: Job
    load: StationLoads
    commands: Commands
    changes: Changes
    contributions: Contributions
    assumed: tuple[str, ...]
    before: Residual
    after: Residual
    along: Along
    shift: Array
    covariance: Array | None
    on_truth: tuple[Residual, Residual] | None
    left: tuple[Skipped, ...]
    files: dict[str, bytes]
    warnings: tuple[Finding, ...]
    end: object = None

    @property
    def model(self) -> Robot:
        return self.job.placed.model

    @property
    def program(self) -> Program:
        return self.job.placed.stations.program

    @cached_property
    def corrected(self) -> Bools:
        """True (S,) where the command is corrected."""
        return np.asarray(self.commands.status == TargetStatus.CORRECTED)

    @property
    def exact(self) -> bool:
        """Every target is corrected to its loaded equilibrium: the model is left with the rounding of digits."""
        return bool(self.corrected.all()) and not self.method.first_order and not self.turned

    @property
    def between(self) -> float:
        """What the tool may be off by between targets, in m."""
        off = np.nanmax(self.before.distance, initial=0.0)
        return max(BETWEEN, SHARE * float(off), SLACK * max(self.method.densify or 0.0, self.method.chord))

    @property
    def leaves_way(self) -> bool:
        """Between targets the tool is off by more than that."""
        return self.along.most > self.between

    @property
    def turned(self) -> bool:
        """Some target is a shift of another one, and keeps an orientation that is not its own."""
        return any(w.code == SHIFTED for w in self.warnings)

    @cached_property
    def motions(self) -> tuple[int, int]:
        """Motions of the program that go to corrected targets, and all of them, those that were left alone too."""
        good = self.corrected[self.job.placed.stations.row]
        moves = self.program.moves
        done = sum(bool(good[m.end] and (m.via is None or good[m.via])) for m in moves)
        return done, len(moves) + len(self.program.skipped)

    @property
    def unchanged(self) -> bool:
        """No motion goes to a corrected target: there is no corrected program to write."""
        return not self.motions[0]

    @property
    def nothing(self) -> bool:
        """By the model there is nothing to correct: the tool is where the program says, and the files stay."""
        off = self.before.distance[self.corrected]
        return bool(np.all(off < NOTHING)) and bool(len(off)) and self.files == dict(self.program.files)

    @property
    def inserted(self) -> int:
        """Points that were put into moves."""
        return sum(len(p.positions) for p in self.changes.inserted.values())

    @cached_property
    def predicted(self) -> Array:
        """Predicted residual error (S,) in m after correction: root mean square; nan where it is not known."""
        if self.covariance is None:
            return np.full(len(self.commands.status), np.nan)
        return np.asarray(np.sqrt(np.einsum("nii->n", self.covariance[:, :3, :3])))

    @cached_property
    def semi_axes(self) -> Array:
        """Semi-axes (S, 3) in m of the one-sigma ellipsoid of the residual error after correction, longest first."""
        if self.covariance is None:
            return np.full((len(self.commands.status), 3), np.nan)
        return Prediction("", np.zeros((len(self.covariance), 6)), self.covariance).ellipsoid()[0]

    @property
    def half_width(self) -> Array:
        """Half of the 95 % interval of the residual error along its worst direction, (S,) m."""
        freedom = np.inf if self.known is None else self.known.freedom
        return quantile_95(freedom) * self.semi_axes[:, 0]

    @property
    def problems(self) -> tuple[dict[str, object], ...]:
        """Targets that cannot be corrected: file, line, name, status and reason."""
        rows = (self._outcome(int(i)) for i in np.flatnonzero(~self.corrected))
        return tuple({k: v for k, v in row.items() if k != "motion"} for row in rows)

    def _outcome(self, station: int) -> dict[str, object]:
        stations, status = self.job.placed.stations, TargetStatus(int(self.commands.status[station]))
        move = self.program.moves[int(stations.move[station])]
        name = self.program.targets[int(stations.target[station])].name
        return {"file": move.file, "line": move.line, "target": name, "motion": move.motion, "status": status.name,
                "reason": status.text}  # fmt: skip

    @property
    def verdict(self) -> tuple[Finding, ...]:
        from elastocal.compensation.verdict import verdict

        return verdict(self)

    def rows(self) -> list[dict[str, object]]:
        """One record per target, in SI: command without and with correction, correction, residual errors, status."""
        axes, numbers = self.model.controller.axes, dict[str, Array]()
        for word, q in (("nominal", self.commands.nominal), ("command", self.commands.command)):
            values = self.model.controller.to_controller(q)
            numbers |= {f"{word}_{a}": values[:, i] for i, a in enumerate(axes)}
        numbers |= {f"correction_{a}": self.shift[:, i] for i, a in enumerate(("x", "y", "z", "rx", "ry", "rz"))}
        numbers |= {"before": self.before.distance, "after_by_model": self.after.distance}
        numbers |= {word.replace(" ", "_"): part.distance for word, part in self.contributions.named.items()}
        numbers |= {"predicted_rms": self.predicted, "predicted_95": self.half_width}
        return [
            {**self._outcome(i), **{key: float(values[i]) for key, values in numbers.items()}}
            for i in range(len(self.commands.status))
        ]

    def to_frame(self) -> Any:
        """``rows`` as a pandas data frame; a list of records where pandas is not installed."""
        return as_frame(self.rows())

    @checked()
    def write(self, folder: str | PathLike[str]) -> tuple[str, ...]:
        """Write the corrected program into a folder, never over the old one; the files that were written."""
        from elastocal.files.programs import write_correction

        return tuple(map(str, write_correction(self, folder)))

    def __repr__(self) -> str:
        what = f"Correction of {', '.join(self.program.files)} for {self.model.name}"
        lines = [f"{what}, tools at {self.method.flange}, load: {self.load.text}"]
        lines += [f"  {notice.text}" for notice in self.verdict]
        counts = self.commands.counts()
        return shortened([*lines, "  targets: " + ", ".join(f"{n} {k.replace('_', ' ')}" for k, n in counts.items())])

    def _repr_html_(self) -> str:
        return as_html(self)


WEIGHT = ("link_mass", "payload", "gravity_compensator", "own_weight", "lateral_weight", "weight_backlash")
"""Kinds of effects of the arm's own weight."""


@dataclass(frozen=True)
class Remaining:
    """``rms`` in m over all targets whose error is known; ``targets`` are not corrected, and stay off by up to
    ``farthest`` m (nan: nobody knows); of ``unknown`` ones of them nobody knows."""

    rms: float
    targets: int
    farthest: float
    unknown: int = 0

    @property
    def text(self) -> str:
        """Of the targets that stay as they are; "" where there are none."""
        if not self.targets:
            return ""
        stay = "1 target stays" if self.targets == 1 else f"{self.targets} targets stay"
        if not isfinite(self.farthest):
            return f"{stay} uncorrected, off by an unknown amount"
        rest = f", {self.unknown} of them by an unknown amount" if self.unknown else ""
        far = f"{'' if self.targets == 1 else 'up to '}{millimetres(self.farthest)} mm"
        return f"{stay} uncorrected, off by {far}{rest}"


def remaining(result: Correction) -> Remaining:
    off, left = result.after.distance, ~result.corrected
    both = np.hypot(off, np.nan_to_num(result.predicted))
    known = both[np.isfinite(both)]
    far = off[left & np.isfinite(off)]
    farthest = float(far.max()) if len(far) else np.nan
    return Remaining(rms(known) if len(known) else np.nan, int(left.sum()), farthest, int(left.sum()) - len(far))


def geometry_kinds(model: Robot) -> frozenset[str]:
    """Kinds of the effects of a robot that no load changes, whatever package they are of."""
    return frozenset(c.kind for c in model.coordinates if c.constant_in_load).difference(WEIGHT)


def unmeasured_geometry(result: Correction) -> str:
    """What of the geometry counts as exact in the prediction, "" where nothing does; taught targets hold it already."""
    if result.known is None or result.method.taught:
        return ""
    kinds, geometry = {p.name: p.kind for p in result.model.parameters}, geometry_kinds(result.model)
    sought = any(kinds[name] in geometry for name in result.known.names)
    if sought and result.known.registered:
        return ""
    return "lengths and joint zeros of the robot file" + (" that were not estimated" if sought else "")
