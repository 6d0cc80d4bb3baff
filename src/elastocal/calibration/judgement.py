"""What speaks against a calibration: lack of fit, outliers, few poses, a search that did not converge, no gain."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import nan
from types import MappingProxyType
from typing import Any

import numpy as np

from elastocal.calibration.campaign import Campaign
from elastocal.calibration.estimates import Outlier
from elastocal.calibration.fit import ROUGH, Fit, distances, fit
from elastocal.calibration.ladder import CONFIDENCE, GAP, Ladder, Rung
from elastocal.calibration.load_slips import OF_SIZE
from elastocal.calibration.noise import FACTOR, SHARE, SIDE, STATED, Instrument, conflict
from elastocal.calibration.omitted import Effect, omitted_effects
from elastocal.calibration.springs import Springs
from elastocal.distributions import chdtrc, fdtrc
from elastocal.quantities import probability
from elastocal.results import Finding, note, warning
from elastocal.solve.blocks import Scale
from elastocal.solve.evidence import Posterior, posterior, prior_precision
from elastocal.solve.nested import ENOUGH as REPEATED
from elastocal.solve.summary import ErrorSummary
from elastocal.spatial.entries import Array
from elastocal.values import dataclass

LEAST = 1e-3
"""Share of the noise that repeats at least scatter by."""
STATEMENT = "the stated noise"
REPEATABLE = 5e-5
"""Sd in m of a coordinate of an arm that comes back badly: an ISO 9283 repeatability of 0.18 mm (mean and three sd of
the distance)."""
LEVEL = 0.01
"""Probability of an alarm where the model is right."""
NAMED = 0.05
"""Probability by chance of a spring that is named as the cause of an alarm, in place of random shares."""
FOLDS, ENOUGH = 5, 100
"""Shares of the poses that are left out in turn to fit again; poses from which on leave-one-out needs no such check."""
OPTIMISTIC = 1.15
"""The error of fits that are made again may be so many times the leave-one-out error: they have fewer poses."""


def warnings_of(campaign: Campaign, ladder: Ladder, lost: tuple[Outlier, ...]) -> tuple[Finding, ...]:
    out = []
    chosen = ladder.chosen
    poses = chosen.fit.task.sight.states.poses
    if not ladder.worth_it:
        gain, half, unit = 1e3 * ladder.gain, 1e3 * ladder.gain_half_width, chosen.fit.task.sight.unit
        size = f"{gain:.3f} +- {half:.3f} m{unit} ({100 * CONFIDENCE:.1f} %, over poses)"
        which = "kept" if ladder.kept_fails else "best"
        text = f"the {which} model gains {size} over the nominal robot, which may be chance"
        if ladder.before is not None and not ladder.kept_fails:
            text = "the nominal robot was kept, and no model was tried on these readings"
        data = {"gain": ladder.gain, "se": ladder.gain_se, "half": ladder.gain_half_width}
        out.append(warning("nothing-to-gain", text, **data))
    if lost:
        rows = sorted({o.row for o in lost})
        have = "1 row has" if len(rows) == 1 else f"{len(rows)} rows have"
        text = f"{have} outliers: {', '.join(campaign.line(r) for r in rows[:5])}" + " ..." * (len(rows) > 5)
        out.append(warning("outliers", text, rows=rows))
    if poses < 15:
        text = f"{poses} poses are few; intervals are wide and may be too narrow still"
        out.append(warning("few-poses", text, poses=poses))
    out += [*_points_of_deflections(chosen.fit), *_backlash_and_foundation(chosen), *_far_from_size(chosen.fit)]
    if not chosen.fit.converged:
        text = "the search did not converge; the estimate is its last point"
        out.append(warning("not-converged", text, steps=chosen.fit.steps))
    return tuple(out)


def optimism_of(ladder: Ladder) -> tuple[Finding, ...]:
    """Leave-one-out in closed form keeps the scales of priors and noise, which have seen every pose: with few of them
    it is too low.  So the chosen model is fitted again, scales and all, without a fifth of the poses in turn.  That
    the model itself was chosen by the same errors is counted too."""
    chosen = ladder.chosen.fit
    sight, poses = chosen.task.sight, chosen.task.sight.states.poses
    if not ladder.worth_it or not sight.placed or not 2 * FOLDS <= poses < ENOUGH:
        return ()
    claimed, choice = float(np.nanmean(chosen.loo_lengths())), choice_optimism(ladder.choice)
    seen = ErrorSummary.of(choice * _fitted_again(chosen), sight.unit)
    if not seen.mean > OPTIMISTIC * claimed:
        return ()
    size = f"{1e3 * seen.mean:.3f} {seen.shown}"
    text = (
        f"chosen and fitted again without every fifth of the poses in turn, scales and all, the mean error is {size}: "
        "the leave-one-out error is optimistic"
    )
    return (warning("optimistic", text, refitted=vars(seen), leave_one_out=claimed, choice=choice, folds=FOLDS),)


def choice_optimism(ladder: Ladder) -> float:
    """By what the error of poses grows that did not help to choose the model: their leave-one-out error under the
    model with the least error of all others, over that under the model with the least of all.

    No model is fitted for it (cross-validation of a choice by cross-validation, Varma and Simon 2006)."""
    tried = [r for r in ladder.rungs if np.isfinite(r.loo)]
    fold = tried[0].pose % FOLDS
    apart = np.full_like(tried[0].errors, np.nan)
    for number in range(FOLDS):
        out = fold == number
        best = min(tried, key=lambda r: float(np.nanmean(r.errors[~out])))
        apart[out] = best.errors[out]
    return max(1.0, float(np.nanmean(apart)) / min(r.loo for r in tried))


def _fitted_again(chosen: Fit) -> Array:
    """Distances (M, points) of states from fits without their share of the poses."""
    task, s = chosen.task, chosen.task.sight.states
    off = np.full((s.count, task.sight.rows), np.nan)
    for number in range(FOLDS):
        out = s.pose % FOLDS == number
        rest = replace(task, dropped=task.dropped | out[:, None])
        start = chosen.blocks(rest)
        fitted = fit(rest, *chosen.start, near=(chosen.posterior,), settled=ROUGH, blocks=start, rate=chosen.rate)
        off[out] = task.sight.unfold(_left_of(fitted))[out]
    return distances(task.sight, np.where(task.sight.used & ~task.dropped, off, np.nan))


def _left_of(fit: Fit) -> Array:
    """Read minus predicted (poses, rows), of what took no part too, by the linearisation that the search ended with."""
    blocks = fit.posterior.blocks
    theta = fit.posterior.mean.copy()
    if not fit.converged:  # it has not gone where that leads
        theta[: len(fit.x)], theta[len(fit.x) :] = fit.x, 0.0
    return np.where(blocks.jacobian.any(axis=2), blocks.readings - blocks.jacobian @ theta, np.nan)


def _points_of_deflections(fitted: Fit) -> list[Finding]:
    """Nothing but the robot file says where deflections were read; the tool's origin is taken where it is silent."""
    task = fitted.task
    s, tool = task.sight.states, task.robot.tool
    if task.sight.placed or s.deflection is None:
        return []
    text = (
        "deflections alone do not tell the geometry, and intervals take that of the robot file as exact; where it is "
        "off by a usual amount, 95 % intervals hold some 80 to 90 %: give an unloaded campaign of positions beside them"
    )
    geometry = note("geometry-of-file", text)
    unknown = [m for m, frame in zip(s.markers, s.frames, strict=True) if frame == tool != m]
    if not unknown:
        return [geometry]
    names = ", ".join(unknown)
    if task.sight.unplaced.any():
        text = (
            f"where {names} sit is estimated with the rest, by what the load turns {tool}, about its origin as "
            "near as the readings say; name markers as frames of the robot where their places are known"
        )
    else:
        text = (
            f"deflections of {names} are taken as those of the origin of {tool}; "
            "name markers that are frames of the robot if they were read elsewhere"
        )
    return [geometry, note("deflection-point", text, markers=unknown, frame=tool)]


def _far_from_size(fit: Fit) -> list[Finding]:
    """Joints that all give way by far more, or less, than their start values: the loads are suspected, not the arm."""
    task = fit.task
    kinds = {p.name: p.kind for p in task.robot.parameters}
    own = [i for i, n in enumerate(task.names) if task.logs[i] and kinds[n] == "joint_compliance"]
    softer = float(np.exp(np.median(fit.x[own]))) if own else 1.0
    if not abs(np.log(softer)) > np.log(OF_SIZE):
        return []
    text = (
        f"all joints come out {softer:.3g} times as compliant as their start values (median): loads or deflections in "
        "another unit, or loads reversed, would explain that; give what acts on the robot, in base axes, in N and N m"
    )
    return [warning("load-size", text, softer=softer, words=[])]


def _backlash_and_foundation(chosen: Rung) -> list[Finding]:
    """What the model does by itself with backlash and a foundation that the file leaves out."""
    out, task = [], chosen.fit.task
    if chosen.dropped_gaps:
        names = ", ".join(chosen.dropped_gaps)
        text = f"backlash of {names} is below {GAP:g} of its standard deviations and taken as none"
        out.append(note("no-backlash", text, joints=list(chosen.dropped_gaps)))
    if chosen.fit.kink:
        text = f"the search ended where backlash changes its side, {chosen.fit.kink:.2g} sd before its last step's end"
        out.append(note("kink", text, sd=chosen.fit.kink))
    for w in task.wanted:
        if w.scale.name == "foundation tilt":
            text = (
                "the robot file has no foundation; its tilt is sought, with a prior sd of "
                f"{1e6 * w.scale.start:.2g} urad/(N m)"
            )
            out.append(note("foundation-tilt", text, sd=w.scale.start, parameters=list(w.names)))
    return out


def misfit_of(
    ladder: Ladder, instrument: Instrument, words: tuple[str, ...], changes: tuple[Finding, ...] = (),
    stood: bool = False, springs: Springs | None = None,
) -> tuple[float, tuple[Finding, ...]]:  # fmt: skip
    """Model discrepancy in m per axis, and alarms: residuals beyond the known noise, effects that were left out.

    Half of the level for each of the two.  An effect that acts alike in all states is named before random shares.
    Words that the ladder tried were judged by it; they are only named as what may be behind a lack of fit.
    ``words`` are those that readings could show.  Of ``changes`` in the course of the campaign the model is innocent.
    ``springs`` that the model lacks raise no alarm by themselves: they are named where there is one.
    Where the arm ``stood`` between repeats, these do not tell how well it comes back.
    """
    chosen, tried = ladder.chosen, {w for r in ladder.choice.rungs for w in r.words}
    scatter = _unvouched(chosen.fit, instrument)
    if not chosen.words:
        return scatter, (_scatter_note(scatter),) if scatter else ()
    effects = omitted_effects(chosen.fit, tuple(w for w in words if w not in chosen.words))
    called = sorted((e for e in effects if e.probability < LEVEL / 2), key=lambda e: e.word == SHARE)
    best = f"a change in the course of the campaign ({changes[0].code})" if changes else None
    known = _known_noise(chosen.fit, instrument, stood)
    ratio, chance, freedom = (nan, nan, nan) if known is None else _lack_of_fit(known.posterior, known.freedom)
    small = _too_small(chosen.fit, instrument)
    alarming = [e for e in called if e.word not in tried]
    if springs is not None and (chance < LEVEL / 2 or alarming):
        called, alarming = _spring_first(springs, called), _spring_first(springs, alarming)
    best = called[0].text if called and best is None else best
    data: dict[str, Any] = {"level": LEVEL, "best": best}
    if known is not None and chance < LEVEL / 2:
        cause = f", best explained by {best}" if best else "; no effect that was tried explains it alone"
        leaves = f"the model leaves something out{cause}"
        data |= {"ratio": ratio, "probability": chance, "freedom": freedom}
        by_statement, stated, shown = known.word == STATEMENT, known.stated, known.shown
        if by_statement:
            noise = {"code": "prior-conflict", "stated": stated, "shown": shown}
            data["hypotheses"] = [noise, {"code": "omitted-effect", "best": best}]
            leaves = f"either the noise is {1e6 * shown:.3g} um, not {1e6 * stated:.3g} as stated, or {leaves}"
        text = (
            f"residuals are {ratio:.2g} times as large as {known.word} let expect (probability {probability(chance)}, "
            f"level {LEVEL:g}): {leaves}; intervals are wider"
        )
        if by_statement and best is None and shown > FACTOR * stated:
            small = (conflict("points", stated, shown / stated, hypotheses=data["hypotheses"]),)
        return float(np.hypot(known.excess, scatter)), (warning("lack-of-fit", text, **data), *small)
    small = (*small, *_not_parted(known), *((_scatter_note(scatter),) if scatter else ()))
    if not alarming or changes:
        return scatter, small
    text = (
        f"residuals call for what the model leaves out: {alarming[0].text}; "
        f"probability {probability(alarming[0].probability)}, level {LEVEL:g}"
    )
    data |= {"best": alarming[0].text, "probability": alarming[0].probability}
    return scatter, (warning("omitted-effect", text, **data), *small)


def _spring_first(springs: Springs, called: list[Effect]) -> list[Effect]:
    """With the spring that the model lacks before what is less probable an explanation; beside random shares, which
    take part in the noise that it is tested by, and beside nothing it need not be as improbable by chance."""
    best, alone = springs.best, not called or called[0].word == SHARE
    if best is None or not best.probability < (NAMED if alone else LEVEL / 2):
        return called
    return sorted([best, *called], key=lambda e: (e.word == SHARE, e.probability))


def _unvouched(chosen: Fit, instrument: Instrument) -> float:
    """Scatter of joints and returns in m per axis, where the noise of a reading is stated and theirs is not.

    Nobody says that it is new at every reading: what the model leaves out is in it, and is there again at the same
    pose.  Where nothing is stated nor repeated, not even this can be told.
    """
    s = chosen.task.sight.states
    if not _reading_stated(instrument) or instrument.scatter_stated or s.scatter_freedom >= REPEATED:
        return 0.0
    if not any(_scatters(part.scale) for part in chosen.posterior.blocks.noise) or not chosen.scale("points"):
        return 0.0
    points = {"points": instrument.scale().start / np.sqrt(s.mean_repeats) / chosen.scale("points")}
    alone = _solved_at(chosen, points | _stated_scatter(chosen, 1.0))
    if not _lack_of_fit(alone, np.inf)[1] < LEVEL / 2:
        return 0.0
    return float(np.sqrt(max(_whole_noise(chosen) ** 2 - _whole_noise(chosen, alone=True) ** 2, 0.0)))


def _scatter_note(scatter: float) -> Finding:
    text = (
        f"beyond the stated noise of a reading, joints and returns scatter by {1e6 * scatter:.3g} um per axis, and "
        "nobody says that they do so anew at every reading: intervals of the mean count it as the model's; state their "
        "repeatability, or read some poses again"
    )
    return note("scatter-not-stated", text, scatter=scatter)


def _reading_stated(instrument: Instrument) -> bool:
    return instrument.sd is not None or instrument.tracker is not None


def _too_small(chosen: Fit, instrument: Instrument) -> tuple[Finding, ...]:
    """A stated noise that repeats of the same state exceed by far: no model is to blame for that."""
    s, stated = chosen.task.sight.states, instrument.sd
    if stated is None or s.scatter_freedom < REPEATED or s.scatter <= FACTOR * stated:
        return ()
    return (conflict("points", stated, s.scatter / stated, repeats=s.scatter, freedom=s.scatter_freedom),)


@dataclass(frozen=True, eq=False)
class _Known:
    """The linear problem solved at the noise that is known, of ``freedom``; ``excess`` in m is what a fit has more,
    ``stated`` and ``shown`` are sds of a coordinate in m, as is known and as the fit has it."""

    posterior: Posterior
    freedom: float
    excess: float
    word: str
    stated: float
    shown: float
    returns: float
    """Sd in m of a coordinate by which the arm is taken to come back elsewhere, where it stood between repeats."""


def _lack_of_fit(post: Posterior, known: float) -> tuple[float, float, float]:
    """Ratio of residuals to the known noise, its probability and freedom: by F against repeats, by chi2 against a
    stated noise, ``known`` with infinite freedom; nan where nothing is to spare.

    Weighed by priors, r^T S^-1 r is about c chi2(f) with the mean c f = tr(1 - K) and half the variance c^2 f =
    tr(1 - K)^2, K the share of every reading that the fit takes (Satterthwaite 1946).
    """
    prior, _ = prior_precision(post.blocks, post.log_scales)
    left = np.linalg.eigvals(post.covariance @ prior).real  # of every direction of the unknowns what the prior decides
    beyond = post.blocks.count - len(left)
    mean, half = beyond + float(left.sum()), beyond + float(np.sum(left**2))
    if mean < 1:
        return nan, nan, nan
    square, freedom = float(np.sum(post.white**2)) / mean, mean**2 / half
    p = float(chdtrc(freedom, square * freedom) if np.isinf(known) else fdtrc(freedom, known, square))
    return float(np.sqrt(square)), p, freedom


def _not_parted(known: _Known | None) -> tuple[Finding, ...]:
    """Where the arm stood, more than the repeats show may be how well it comes back, or a lack of fit below that."""
    if known is None or known.returns < known.shown / 2:
        return ()
    text = (
        f"the arm stood between its repeats, which do not show how well it comes back: of the {1e6 * known.shown:.3g} "
        f"um that residuals let expect of a coordinate, {1e6 * known.returns:.3g} are taken as its repeatability and "
        "may be a lack of fit; read repeats with other poses between them, or state the repeatability"
    )
    return (note("standing-repeats", text, shown=known.shown, returns=known.returns),)


def _known_noise(chosen: Fit, instrument: Instrument, stood: bool = False) -> _Known | None:
    """None where neither repeats nor the user tell the noise.

    Repeats vouch for all of it, joints that stop elsewhere included; a statement for that of the instrument alone, and
    so do repeats of an arm that ``stood``: beyond them it may not come back as far as is stated, or as arms do.
    """
    s = chosen.task.sight.states
    scale = chosen.scale("points")
    if not scale:
        return None
    average = np.sqrt(s.mean_repeats)
    unit, returns = 1.0 if instrument.tracker is None else instrument.tracker.across, 0.0
    if s.scatter_freedom >= REPEATED and instrument.tracker is None:
        seen = _whole_noise(chosen)
        size = max(s.scatter / average, LEAST * seen)  # repeats that an instrument rounds to the same do not scatter
        if stood:
            most = REPEATABLE if instrument.return_sd is None else instrument.return_sd
            returns = min(most, float(np.sqrt(max(seen**2 - size**2, 0.0))))
            size = float(np.hypot(size, returns))
        freedom, factors, word = float(s.scatter_freedom), {"": size / seen}, "repeats"
    elif _reading_stated(instrument):
        seen, size = scale, instrument.scale().start / average
        freedom, factors, word = np.inf, {"points": size / seen}, STATEMENT
        if instrument.scatter_stated:
            factors |= _stated_scatter(chosen, average)
            unit, seen, size = 1.0, _whole_noise(chosen), _whole_noise(chosen, factors)
    else:
        return None
    excess = float(np.sqrt(max(seen**2 - size**2, 0.0))) * unit
    return _Known(_solved_at(chosen, factors), freedom, excess, word, unit * size, unit * seen, returns)


def _solved_at(chosen: Fit, factors: Mapping[str, float]) -> Posterior:
    """The linear problem with parts of the noise times ``factors`` by their names, others times that of ""."""
    post = chosen.posterior
    first, blocks = len(post.blocks.groups), post.blocks
    kept = [i for i, part in enumerate(blocks.noise) if part.scale.pool != SHARE]
    names = [blocks.noise[i].scale.name for i in kept]
    shift = [0.0 if name == SIDE else np.log(factors.get(name, factors.get("", 1.0))) for name in names]
    scales = np.concatenate([post.log_scales[:first], post.log_scales[[first + i for i in kept]] + shift])
    return posterior(replace(blocks, noise=tuple(blocks.noise[i] for i in kept), power=1.0), scales)


def _scatters(scale: Scale) -> bool:
    """Whether it is of joints or returns."""
    return scale.pool != SHARE and scale.name.startswith(("noise ", "translation"))


def _stated_scatter(chosen: Fit, average: float) -> dict[str, float]:
    """What the scatter of joints and returns must be multiplied by to be as stated; those not stated have none."""
    post = chosen.posterior
    first, out = len(post.blocks.groups), dict[str, float]()
    for part, log_scale in zip(post.blocks.noise, post.log_scales[first:], strict=True):
        if _scatters(part.scale):
            stated = part.scale.start / average if part.scale.width == STATED and not part.scale.pool else 0.0
            out[part.scale.name] = max(stated / float(np.exp(log_scale)), LEAST)
    return out


def _whole_noise(chosen: Fit, factors: Mapping[str, float] = MappingProxyType({}), *, alone: bool = False) -> float:
    """Sd of a coordinate by what may scatter between repeats, in m: not the share of deflections, nor the side of a
    backlash, which is the same again or another as it happens.

    Parts times ``factors`` by their names; the instrument's ``alone``."""
    post, sight = chosen.posterior, chosen.task.sight
    first = len(post.blocks.groups)
    variance = np.zeros(post.blocks.used.shape)
    for part, log_scale in zip(post.blocks.noise, post.log_scales[first:], strict=True):
        if part.scale.pool != SHARE and part.scale.name != SIDE and not (alone and _scatters(part.scale)):
            size = factors.get(part.scale.name, 1.0) * np.exp(log_scale)
            variance += size**2 * np.sum(part.factor**2, axis=2)
    lengths = post.blocks.used & np.tile(sight.lengths, sight.states.slots)
    return float(np.sqrt(variance[lengths].mean()))
