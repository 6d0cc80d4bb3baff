"""The model of a calibration, kept for readings that are nearly the same: one was left out, taken back or added.

Words, noise family, sides of backlash and gaps that count are those of the calibration; estimates, scales and outliers
are where the searches start, and are found anew.  Two fits remain of a whole ladder.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from elastocal.calibration.calibration import Calibration
from elastocal.calibration.campaign import Campaign
from elastocal.calibration.estimates import Outlier
from elastocal.calibration.fit import SETTLED, Fit, fit
from elastocal.calibration.ladder import FAMILIES, Climber, Ladder, Rung, decided
from elastocal.calibration.placing import Placing
from elastocal.calibration.sight import Sight
from elastocal.calibration.task import Task, assemble
from elastocal.calibration.words import without_names
from elastocal.errors import ConflictError
from elastocal.model.compliant.joint_backlash import JointBacklash
from elastocal.model.robot import Robot
from elastocal.results import Finding, note
from elastocal.spatial.entries import Array, Bools
from elastocal.values import dataclass


@dataclass(frozen=True, eq=False)
class Kept:
    """What a calibration gives to the next one."""

    start: Calibration

    @property
    def chosen(self) -> Rung:
        """The model that was chosen by a whole ladder; a refit in between that it failed does not count."""
        return self.start.ladder.chosen if self.start.words else self.start.ladder.choice.chosen

    def words(self, robot: Robot) -> tuple[str, ...]:
        """Of the model; it must be of this robot."""
        if (self.start.robot.name, self.start.robot.joints) != (robot.name, robot.joints):
            raise ConflictError(
                f"start is a calibration of {self.start.robot.name}, not of {robot.name} with the same joints; "
                "leave it out",
                parameter="start",
            )
        return self.chosen.words

    @property
    def findings(self) -> tuple[Finding, ...]:
        """That the model was not chosen by these readings."""
        tried = self.start.ladder.choice.rungs
        text = (
            f"the model was kept: an earlier calibration chose it among {len(tried)}, and no other was tried on these "
            "readings"
        )
        return (note("model-kept", text, words=list(self.chosen.words), tried=len(tried)),)

    def placing(self, sight: Sight) -> Placing | None:
        """Where stations and markers were; None where these are others."""
        s = sight.states
        if (s.stations, s.markers) != (self.start.stations, self.start.markers):
            return None
        return self.start.placing

    def dropped(self, campaign: Campaign, sight: Sight) -> Bools:
        """Rows (M, rows) of the outliers that are still among the readings."""
        out, s = np.zeros_like(sight.used), sight.states
        lines = {campaign.line(i): i for i in range(campaign.count)}
        state = s.state_of(campaign.count)
        for o in self.start.outliers:
            if o.place in lines and not np.isnan(o.deviations):
                out[state[lines[o.place]], _rows(sight, o)] = True
        return out & sight.used

    def fitted(self, task: Task, placing: Placing, settled: float = SETTLED) -> Fit:
        """A fit that starts where the calibration ended."""
        x = self.unknowns(task)
        blocks = assemble(task, x, placing)
        known = self._scales(task)
        scales = [known.get(s.name, start) for s, start in zip(blocks.scales, blocks.start, strict=True)]
        return fit(task, placing, x, np.array(scales), settled=settled)

    def climb(self, climber: Climber) -> Ladder:
        """The nominal robot and the model that was kept."""
        both = FAMILIES if climber.sight.placed else FAMILIES[:1]
        rungs = [climber.rung((), f) for f in both]
        nominal = min(rungs, key=lambda r: r.loo)
        before = self.start.ladder.choice
        if not self.chosen.words:
            return Ladder(tuple(rungs), nominal, nominal, 0.0, 0.0, before)
        best = self._rung(climber)
        return decided((*rungs, best), best, nominal, before)

    def _rung(self, climber: Climber) -> Rung:
        chosen = self.chosen
        climber.watch(f"{' + '.join(chosen.words)}, kept")
        task = climber.task(chosen.words, chosen.family, chosen.multiple)
        known = self.start.names or task.names
        none = tuple(n for n in task.names if n.endswith(".gap") and n not in known)
        wanted = tuple(w for w in (without_names(w, none) for w in task.wanted) if w.names)
        sides = {e.joint: e.transition for e in self.start.uncalibrated.elements if isinstance(e, JointBacklash)}
        elements = tuple(
            replace(e, transition=sides.get(e.joint, e.transition)) if isinstance(e, JointBacklash) else e
            for e in task.robot.elements
        )
        robot = replace(task.robot, elements=elements).with_estimates(dict.fromkeys(none, 0.0))
        placing = climber.placing if climber.rich is None else climber.rich.placing
        fitted = self.fitted(replace(task, robot=robot, wanted=wanted), placing)
        rung = Rung.of(chosen.words, chosen.family, chosen.multiple, fitted, chosen.remark)
        return replace(rung, dropped_gaps=tuple(n.removesuffix(".gap") for n in none))

    def unknowns(self, task: Task) -> Array:
        """Of a task as the calibration estimates them; those that it has not as in the file."""
        known = {e.name: e.value for e in self.start.parameters.rows}
        value = np.array([known.get(n, f) for n, f in zip(task.names, task.file_values.tolist(), strict=True)])
        share = np.divide(value, task.file_values, out=np.ones(len(value)), where=task.logs)
        return np.where(task.logs, np.log(share), value - task.file_values)

    def _scales(self, task: Task) -> dict[str, float]:
        """Logarithms by name: of the noise, and of priors, which the prior sd of one parameter of a group tells."""
        out = {name: float(np.log(v)) for name, v in self.start.noise.items() if v > 0}
        for w in task.wanted:
            same = (e for e in self.start.parameters.rows if e.group == w.scale.name and e.name in w.names)
            e = next((e for e in same if e.prior_sd > 0), None)
            if e is not None:
                size = float(w.sizes[w.names.index(e.name)]) * (abs(e.value) if w.log else 1.0)
                out[w.scale.name] = float(np.log(e.prior_sd / size))
        return out


def _rows(sight: Sight, o: Outlier) -> list[int]:
    """Of a state, those of an outlier: one number, a point, or all."""
    if o.axis == "orientation":
        part = sight.sections["orientation"]
        return list(range(part.start, part.stop))
    if o.marker is None or o.marker not in sight.states.markers:
        return list(range(sight.rows))
    at, out = sight.states.markers.index(o.marker), []
    for key, part in sight.sections.items():
        if key == "distance" and o.axis in (None, "distance"):
            out.append(part.start + at)
        elif key in ("position", "deflection") and o.axis != "distance":
            axes = range(3) if o.axis is None else ["xyz".index(o.axis)]
            out += [part.start + 3 * at + a for a in axes]
    return out
