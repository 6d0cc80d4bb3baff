"""Which model predicts best: nested models and two noise families, judged by leave-one-pose-out in closed form.

A rung is a set of model words, a noise family, and how its prior scales are set: by evidence, or all as a common
multiple of the start scales (100 is plain least squares).  Words are added one after another and kept where the
leave-one-pose-out error falls; searches end early, but that of the one that is chosen.  It must beat the nominal robot
by more than chance: the paired differences of the poses decide.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import field, replace
from functools import cached_property

import numpy as np

from elastocal.calibration.fit import ROUGH, SETTLED, Fit, fit
from elastocal.calibration.given import Prior
from elastocal.calibration.noise import Family, Instrument
from elastocal.calibration.placing import Placing
from elastocal.calibration.sight import Sight
from elastocal.calibration.states import mean_by_poses
from elastocal.calibration.task import Task
from elastocal.calibration.words import Wanted, is_rare, with_words, without_names
from elastocal.errors import UnsupportedError
from elastocal.model.compliant.joint_backlash import JointBacklash
from elastocal.model.robot import Robot
from elastocal.quantities import quantile_95
from elastocal.spatial.entries import Array, Bools, Ints
from elastocal.values import dataclass

WORTH = 1.003
"""A further word may raise the leave-one-out error to this multiple: one with nothing to say shrinks by itself, and one
that is real but left out makes intervals too narrow."""
RARE = 0.99
"""Words that few robots need must bring the error below this share."""
MULTIPLES = (3.0, 10.0, 30.0, 100.0)
GAP = 2.0
"""Standard deviations from which backlash counts."""
SHARPER = (0.3, 0.1)
"""Shares of the transitions of backlash that are tried in the end."""
AS_GOOD = 1.02
"""Multiple of the leave-one-out error of an early end within which that of the end of the same search confirms it."""
SURE, CONFIDENCE = 2.5, 0.988
"""A gain over the nominal robot counts from this many standard errors on, which is this confidence."""
HARMLESS = {"compliance", "bearings", "backlash"}
"""Words with priors about the file, which cannot do much harm: kept without a gain that counts."""
MOST_USED = 0.8
"""Share of the numbers left after placing that a model may use; beyond it nothing is left to judge it by."""
FAMILIES: tuple[Family, Family] = ("joints", "points")


@dataclass(frozen=True, eq=False)
class Rung:
    """One model as it was fitted; ``multiple`` of the start scales is None where evidence chose them."""

    words: tuple[str, ...]
    family: Family
    multiple: float | None
    errors: Array
    """Leave-one-pose-out distance in m of every point read, (states, points)."""
    pose: Ints
    """Number of the pose of every state."""
    evidence: float
    effective: float
    """Effective number of parameters of the robot."""
    remark: str = ""
    fitted: Fit | None = field(default=None, repr=False)
    dropped_gaps: tuple[str, ...] = ()
    """Joints whose backlash did not stand out of its sd."""

    @classmethod
    def of(cls, words: tuple[str, ...], family: Family, multiple: float | None, fitted: Fit, remark: str = "") -> Rung:
        effective = _effective(fitted)
        pose = fitted.task.sight.states.pose
        errors = fitted.loo_lengths()
        return cls(words, family, multiple, errors, pose, fitted.evidence, effective, remark, fitted)

    @property
    def fit(self) -> Fit:
        """The fit itself, which no file keeps."""
        if self.fitted is None:
            raise UnsupportedError("a calibration read from a file has the errors of its models, not their fits")
        return self.fitted

    @property
    def loo(self) -> float:
        """Mean leave-one-pose-out distance in m."""
        return float(np.nanmean(self.errors))

    @property
    def rms(self) -> float:
        return float(np.sqrt(np.nanmean(self.errors**2)))

    @property
    def label(self) -> str:
        words = " + ".join(self.words) or "nominal"
        words += f", {self.remark}" * bool(self.remark)
        if self.multiple is None or not self.words:
            return words
        return words + (", least squares" if self.multiple == MULTIPLES[-1] else f", fixed scales x {self.multiple:g}")

    def gain_over(self, other: Rung) -> tuple[float, float]:
        """Mean fall of the error in m against another rung, and its standard error over poses."""
        return mean_by_poses(other.errors - self.errors, self.pose)[:2]


@dataclass(frozen=True, eq=False)
class Ladder:
    """All rungs in the order tried, the chosen one and the nominal one."""

    rungs: tuple[Rung, ...]
    chosen: Rung
    nominal: Rung
    gain: float
    gain_se: float
    before: Ladder | None = None
    """Of an earlier calibration, which the model was chosen by and kept from."""

    @property
    def gain_half_width(self) -> float:
        """What a gain must exceed to count: half of its interval of ``CONFIDENCE`` over poses, in m."""
        return _half_width(self.gain_se, self.nominal)

    @property
    def choice(self) -> Ladder:
        """The ladder that the model was chosen by."""
        return self if self.before is None else self.before

    @property
    def kept_fails(self) -> bool:
        """Whether a model was kept that does not beat the nominal robot on these readings."""
        return not self.chosen.words and bool(self.choice.chosen.words)

    @property
    def worth_it(self) -> bool:
        return self.chosen is not self.nominal


@dataclass(frozen=True, eq=False)
class Climber:
    """What every rung shares."""

    sight: Sight
    robot: Robot
    dropped: Bools
    placing: Placing
    instrument: Instrument
    priors: tuple[Prior, ...]
    watch: Callable[[str], None]
    rich: Fit | None = None
    """The richest model, where it was fitted before: all others find start values there."""

    @cached_property
    def _models(self) -> dict[tuple[str, ...], tuple[Robot, tuple[Wanted, ...]]]:
        return {}

    def task(self, words: tuple[str, ...], family: Family, multiple: float | None) -> Task:
        model, wanted = self._model(words)
        if multiple is not None:
            wanted = tuple(_multiplied(w, multiple) for w in wanted)
        return Task(self.sight, model, wanted, family, self.dropped, self.instrument)

    def _model(self, words: tuple[str, ...]) -> tuple[Robot, tuple[Wanted, ...]]:
        """The robot with the words, and their groups; the richest as it was fitted, whose states are known."""
        if words not in self._models:
            made = with_words(self.robot, words, self.priors)
            known = None if self.rich is None else self.rich.task
            same = known is not None and known.names == tuple(n for w in made[1] for n in w.names)
            self._models[words] = (known.robot, known.wanted) if known is not None and same else made
        return self._models[words]

    def rung(
        self, words: tuple[str, ...], family: Family, multiple: float | None = None, near: Fit | None = None
    ) -> Rung:
        """Fitted from values and scales of the richest model, and of a fit nearby."""
        self.watch(" + ".join(words) or "nominal")
        task = self.task(words, family, multiple)
        fits = [f for f in (self.rich, near) if f is not None]
        known = {n: v for f in reversed(fits) for n, v in zip(f.task.names, f.x.tolist(), strict=True)}
        x = np.array([known.get(n, 0.0) for n in task.names])
        placing = fits[0].placing if fits else self.placing
        own = [f.posterior for f in reversed(fits)]
        for f in fits:
            if f.task.robot is task.robot and f.task.names == task.names:
                placing, x = f.start
                own = sorted(own, key=lambda post: post is not f.posterior)
        rate = max((f.rate for f in fits), default=1.0)
        settled = ROUGH if words else SETTLED
        return Rung.of(words, family, multiple, fit(task, placing, x, near=own, settled=settled, rate=rate))


def _predicts(rung: Rung) -> float:
    """Leave-one-out error of a rung all of whose readings are predicted; infinite otherwise."""
    task = rung.fit.task
    whole = rung.fit.posterior.blocks.count == int((task.sight.used & ~task.dropped).sum())
    return rung.loo if whole and np.isfinite(rung.loo) else np.inf


def usual(words: tuple[str, ...]) -> tuple[str, ...]:
    """The richest model: all words but those that few robots need."""
    return tuple(w for w in words if not is_rare(w) or len(words) == 1)


def leaves_enough(fitted: Fit) -> bool:
    """Whether a model leaves enough of the numbers to judge it, and them, by."""
    sight = fitted.task.sight
    s, read = sight.states, int((sight.used & ~fitted.task.dropped).sum())
    places = 6 * len(s.stations) + 3 * s.points if sight.placed else 0
    return _effective(fitted) < MOST_USED * (read - places)


def _effective(fitted: Fit) -> float:
    """Effective number of parameters of the robot."""
    post = fitted.posterior
    sizes = np.array([len(g.columns) for g in post.blocks.groups])
    return float(np.sum((sizes - post.shares)[: len(fitted.task.wanted)]))


def _multiplied(w: Wanted, multiple: float) -> Wanted:
    """A group with a fixed multiple of its start scale; what was fixed before stays."""
    return w if w.scale.fixed else replace(w, scale=replace(w.scale, start=w.scale.start * multiple, width=0.0))


def _sharpened(rung: Rung) -> Iterator[Rung]:
    """The same with sides of backlash that change over within smaller torques.

    A search that starts with sharp sides does not find its way; from here it does, and leave-one-out decides.
    """
    for share in SHARPER:
        fitted = rung.fit
        elements = [
            replace(e, transition=share * e.transition) if isinstance(e, JointBacklash) else e
            for e in fitted.task.robot.elements
        ]
        task = replace(fitted.task, robot=replace(fitted.task.robot, elements=tuple(elements)))
        if not len(task.loose_joints):
            return
        own = (fitted.posterior,)
        remark = f"sides of backlash {1 / share:.0f} times sharper"
        rough = fit(task, fitted.placing, fitted.x, near=own, settled=ROUGH)
        yield Rung.of(rung.words, rung.family, rung.multiple, rough, remark)


def _settled(rung: Rung) -> Rung:
    """The same with its search taken to the end, and without backlash that does not stand out of its sd.

    A gap of a few microradians predicts no better, and makes every pose uncertain at which nothing presses its gear to
    one side.
    """
    rough = rung.fit
    small = {name for name, size in _gaps_in_sd(rough).items() if size < GAP}
    if not small:
        known, scales = rough.posterior, rough.posterior.log_scales
        fitted = fit(rough.task, *rough.start, scales, near=(known,), blocks=rough.blocks(rough.task))
        return Rung.of(rung.words, rung.family, rung.multiple, fitted, rung.remark)
    wanted = tuple(w for w in (without_names(w, tuple(small)) for w in rough.task.wanted) if w.names)
    keep = [i for i, n in enumerate(rough.task.names) if n not in small]
    robot = rough.task.robot.with_estimates(dict.fromkeys(sorted(small), 0.0))  # the file may state some
    task = replace(rough.task, robot=robot, wanted=wanted)
    joints = tuple(n.removesuffix(".gap") for n in rough.task.names if n in small)
    new = fit(task, rough.placing, rough.x[keep], near=(rough.posterior,))
    remark = f"no backlash of {', '.join(sorted(joints))}"
    none = not any(n.endswith(".gap") for n in task.names) and not any(_stated(rough.task.robot, n) for n in small)
    words = tuple(w for w in rung.words if w != "backlash" or not none)
    return replace(Rung.of(words, rung.family, rung.multiple, new, remark), dropped_gaps=joints)


def _confirmed(candidates: Sequence[Rung]) -> tuple[Rung, Rung]:
    """The candidate that predicts best with its search taken to the end, and as it was before.

    Sharp sides may predict well where a search was ended early, and lead nowhere: then the next one is tried, unless
    even its early end predicts no better.
    """

    def rank(pair: tuple[Rung, Rung]) -> tuple[bool, float]:
        return not pair[0].fit.converged, _predicts(pair[0])

    tried: list[tuple[Rung, Rung]] = []
    for rough in sorted(candidates, key=_predicts):
        if tried and min(map(rank, tried)) <= (False, _predicts(rough)):
            break
        tried.append((_settled(rough), rough))
        if rank(tried[-1]) < (False, AS_GOOD * rough.loo):
            break
    return min(tried, key=rank)


def _stated(robot: Robot, name: str) -> bool:
    return bool(robot.parameters.values[robot.parameters.index(name)])


def _gaps_in_sd(fitted: Fit) -> dict[str, float]:
    sds = np.sqrt(np.diag(fitted.covariance))[: len(fitted.x)]
    pairs = zip(fitted.task.names, (fitted.values / sds).tolist(), strict=True)
    return {name: size for name, size in pairs if name.endswith(".gap")}


def _kept(word: str, candidate: Rung, best: Rung) -> bool:
    return candidate.loo < (RARE if is_rare(word) else WORTH) * best.loo


def _rungs_with(
    climber: Climber, best: Rung | None, word: str, words: tuple[str, ...], both: Sequence[Family]
) -> list[Rung]:
    """Of the best so far and one more word, in the order of all words."""
    with_word = tuple(w for w in words if w == word or (best is not None and w in best.words))
    families = both if best is None or word in ("weight", "harmonics", "preload") else (best.family,)
    out: list[Rung] = []
    for family in families:
        near = out[-1].fit if out else best.fit if best else None
        out.append(climber.rung(with_word, family, near=near))
    if word == "geometry":
        out += [climber.rung(with_word, "points", m, near=out[-1].fit) for m in MULTIPLES]
    return out


def climb(climber: Climber, words: tuple[str, ...]) -> Ladder:
    """Rungs for ``words``, added in this order, and the choice.

    A word that was refused before another was kept is tried once more beside that: a large effect hides small ones.
    """
    both = FAMILIES if climber.sight.placed else FAMILIES[:1]  # deflections have joints by their share alone
    rungs = [climber.rung((), f) for f in both]
    nominal = min(rungs, key=lambda r: r.loo)
    best: Rung | None = None
    refused: list[str] = []
    hidden: list[str] = []
    for word in words:
        tried = _rungs_with(climber, best, word, words, both)
        rungs += tried
        tried = [r for r in tried if leaves_enough(r.fit)]
        if not tried:
            continue
        candidate = min(tried, key=lambda r: r.loo)
        if best is None or _kept(word, candidate, best):
            best, hidden = candidate, [*refused]
        else:
            refused.append(word)
    for word in hidden:
        assert best is not None
        tried = _rungs_with(climber, best, word, words, (best.family,))
        rungs += tried
        best = min((r for r in tried if leaves_enough(r.fit) and _kept(word, r, best)), key=_predicts, default=best)
    if best is None:
        return Ladder(tuple(rungs), nominal, nominal, 0.0, 0.0)
    sharper = list(_sharpened(best))
    rungs += sharper
    best, rough = _confirmed((best, *sharper))
    rungs = [*rungs, best] if best.dropped_gaps else [best if r is rough else r for r in rungs]
    return decided(tuple(rungs), best, nominal)


def decided(rungs: tuple[Rung, ...], best: Rung, nominal: Rung, before: Ladder | None = None) -> Ladder:
    """The best rung, where it beats the nominal robot by more than chance; compliances alone where they beat it."""
    if not best.words:
        bare = replace(nominal, dropped_gaps=best.dropped_gaps)
        return Ladder(tuple(bare if r is nominal else r for r in rungs), bare, bare, 0.0, 0.0, before)
    gain, se = best.gain_over(nominal)
    least = 0.0 if set(best.words) <= HARMLESS else _half_width(se, nominal)
    return Ladder(rungs, best if gain > least else nominal, nominal, gain, se, before)


def _half_width(se: float, nominal: Rung) -> float:
    """``SURE`` standard errors, more by Student's distribution where poses are few."""
    poses = int(nominal.pose.max()) + 1
    return SURE * se * quantile_95(max(1, poses - 1)) / quantile_95(np.inf)
