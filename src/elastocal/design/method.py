"""How a campaign is measured, as far as a plan asks: what there is to choose from, and what each choice reads.

One file = one method: markers of a loaded arm (``Measuring``, here), contacts (``touching``), joint torques
(``sweeping``).  A search needs nothing of a kind of measurement but ``derivative`` and ``predict``; a new kind that is
planned by poses and loads is one more line of ``KINDS``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from elastocal.design.candidates import CandidateSet, drawn
from elastocal.design.feasibility.filter import Removed
from elastocal.errors import UnknownNameError
from elastocal.measure.kind import Measurement, Statics
from elastocal.measure.markers import Deflection, Position
from elastocal.measure.setup import Setup
from elastocal.measure.sources.source import ErrorSource
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.robot import Robot
from elastocal.model.statics.observation import Marker
from elastocal.spatial.entries import Array, Bools, Ints
from elastocal.values import dataclass

if TYPE_CHECKING:
    from elastocal.design.task import PlanTask


@dataclass(frozen=True, eq=False)
class Stop:
    """One stop of a measuring program (n,) in joint values, and what is to be done there, one halt for each sentence.

    ``speed`` is that of the move to it in per cent, None: as usual, ``slow``: reduced; ``note`` is a comment, and
    ``label`` says what is measured there.
    """

    q: Array
    sentences: tuple[str, ...] = ()
    speed: float | None = None
    note: str = ""
    slow: bool = False
    label: str = ""


class Method(ABC):
    """``counted`` is the unit of what the task asks for: an error of place (m) or of torque (N m).

    ``noun`` is what a plan consists of.

    ``errors_sought``: unknowns common to the campaign (friction) count in the criterion like parameters.
    """

    kind: str
    sources: tuple[ErrorSource, ...]
    counted: ClassVar[str] = "m"
    noun: ClassVar[str] = "poses"
    errors_sought: ClassVar[bool] = False

    @property
    def nuisances(self) -> tuple[ErrorSource, ...]:
        """All sources of error, with those that a calibration finds by itself."""
        return self.sources

    @abstractmethod
    def choices(self, task: PlanTask, rng: np.random.Generator) -> tuple[CandidateSet, tuple[Removed, ...]]:
        """Everything drawn, and what could not be had whatever the cell is like."""

    @abstractmethod
    def readings(self, candidates: CandidateSet) -> Measurement:
        """What is read of these candidates."""

    @abstractmethod
    def at_tests(self, q: Array, load: AppliedWrenches, frame: str, model: Robot, names: Sequence[str]) -> Array:
        """How what counts depends on the parameters at configurations (T, n) under their loads, (T, r, p)."""

    def stations(self, candidates: CandidateSet) -> tuple[CandidateSet, Ints]:
        """Every configuration that a candidate takes the arm to, and whose it is."""
        return candidates, np.arange(len(candidates))

    def stops(self, candidates: CandidateSet) -> Array:
        """Joint values (N, n) that the arm comes from and goes on from."""
        return candidates.q

    def measured(self, candidates: CandidateSet) -> Bools | None:
        """(readings, R) numbers that are read; None: all."""
        return None

    def owner(self, candidates: CandidateSet) -> Ints | None:
        """The candidate of every reading where several are taken as one; None: each is its own."""
        return None

    @abstractmethod
    def program(self, chosen: CandidateSet, repeats: int, rated: Array) -> tuple[Stop, ...]:
        """What the cell does, stop by stop; ``rated`` (n,) are full speeds of the axes in rad/s, nan if unknown."""

    def determined(self, readings: Measurement, candidates: CandidateSet) -> Bools:
        """(N,) candidates whose state is determined, of what is read of them."""
        return np.asarray(np.isfinite(readings.predict(candidates.model)).all(axis=1))


KINDS: dict[str, Callable[[Setup, Statics], Measurement]] = {
    "deflection": Deflection,
    "position": lambda where, statics: Position(where),
}


@dataclass(frozen=True)
class Measuring(Method):
    """``kind`` of measurement of ``markers`` with its ``sources`` of error; ``statics`` is of deflections.

    ``placing``: where instrument and markers are, if the calibration finds it; predictions are of what the instrument
    reads of the first marker then.
    """

    kind: str
    markers: tuple[Marker, ...]
    sources: tuple[ErrorSource, ...] = ()
    statics: Statics = "loaded"
    placing: tuple[ErrorSource, ...] = ()

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise UnknownNameError("kind of measurement", self.kind, KINDS)

    @property
    def nuisances(self) -> tuple[ErrorSource, ...]:
        return (*self.sources, *self.placing)

    def at(self, q: Array, load: AppliedWrenches, markers: tuple[Marker, ...] | None = None) -> Measurement:
        """The readings of (N, n) configurations under their loads."""
        return KINDS[self.kind](Setup(q, load, markers or self.markers), self.statics)

    def choices(self, task: PlanTask, rng: np.random.Generator) -> tuple[CandidateSet, tuple[Removed, ...]]:
        """Every configuration drawn under every load."""
        poses, missed = drawn(task.model, task.draw, rng)
        options = tuple(o for load in task.loadings for o in load.options(task.model))
        candidates = CandidateSet.of(poses, options, task.load_frame or task.model.tool)
        reach = Removed("reach of the task", missed * max(1, len(options)), len(candidates))
        return candidates, (reach,) if task.draw.around else ()

    def readings(self, candidates: CandidateSet) -> Measurement:
        return self.at(candidates.q, candidates.load)

    def at_tests(self, q: Array, load: AppliedWrenches, frame: str, model: Robot, names: Sequence[str]) -> Array:
        return self.at(q, load, (self._tested(frame),)).derivative(model, names)

    def placing_at_tests(self, q: Array, load: AppliedWrenches, model: Robot, names: Sequence[str]) -> Array:
        """How what counts depends on the unknowns ``names`` of the campaign, (T, 3, c)."""
        kind = self.at(q, load, (self._tested(),))
        out = np.zeros((len(q), 3, len(names)))
        for source in self.placing:
            columns = source.columns(kind, model)
            for i, unknown in enumerate(source.unknowns(kind, model)):
                if unknown.name in names:
                    out[:, :, names.index(unknown.name)] = columns[:, :, i]
        return out

    def _tested(self, frame: str = "") -> Marker:
        return Marker(self.markers[0].frame if self.placing else frame)

    def program(self, chosen: CandidateSet, repeats: int, rated: Array) -> tuple[Stop, ...]:
        """A deflection needs a reading without and one with the load.

        What can be carried is put on once: all its poses are first read without it.  Anything else is put on and taken
        off at every pose.
        """
        return tuple(s for block in load_blocks(chosen) for s in self._block(chosen, block, repeats))

    def _block(self, chosen: CandidateSet, block: range, repeats: int) -> list[Stop]:
        times = f" {repeats} times" if repeats > 1 else ""
        load, q = chosen.label(block[0]), chosen.q
        if not chosen.options:
            return [Stop(q[i], (f"P{i + 1}: read{times}",), label=f"P{i + 1}") for i in block]
        free = {i: f"P{i + 1}: read without load{times}" for i in block}
        under = {i: f"P{i + 1}: read under {load}{times}" for i in block}
        if not chosen.carried(block[0]):
            first = self.kind == "deflection"
            on = (f"put on {load}", "take the load off")
            return [
                Stop(q[i], (*((free[i],) if first else ()), on[0], under[i], on[1]), label=f"P{i + 1}") for i in block
            ]
        out = (
            [Stop(q[i], (free[i],), label=f"P{i + 1}") for i in block] if self._first_without(chosen, block[0]) else []
        )
        for i in block:
            put = (f"put on {load}",) if i == block[0] else ()
            off = (f"take off {load}",) if i == block[-1] else ()
            out.append(Stop(q[i], (*put, under[i], *off), label=f"P{i + 1}"))
        return out

    def _first_without(self, chosen: CandidateSet, i: int) -> bool:
        return self.kind == "deflection" and bool(chosen.options) and chosen.carried(i)


def load_blocks(chosen: CandidateSet) -> tuple[range, ...]:
    """Candidates that follow one another under one load."""
    ends = [i for i in range(1, len(chosen)) if chosen.option[i] != chosen.option[i - 1]]
    return tuple(range(a, b) for a, b in zip([0, *ends], [*ends, len(chosen)], strict=True))
