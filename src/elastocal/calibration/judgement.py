"""What speaks against a calibration: lack of fit, outliers, few poses, a search that did not settle, no gain."""

from __future__ import annotations

import numpy as np

from elastocal.calibration.campaign import Campaign
from elastocal.calibration.estimates import Outlier
from elastocal.calibration.fit import Fit
from elastocal.calibration.ladder import Ladder
from elastocal.calibration.noise import Instrument
from elastocal.findings import Finding


def warnings_of(campaign: Campaign, ladder: Ladder, lost: tuple[Outlier, ...]) -> tuple[Finding, ...]:
    out = []
    chosen = ladder.chosen
    poses = chosen.fit.task.sight.states.poses
    if not ladder.worth_it:
        size = f"{1e3 * ladder.gain:.3f} +- {2e3 * ladder.gain_se:.3f} mm"
        text = f"the best model gains {size} over the nominal robot, which may be chance"
        out.append(Finding("nothing-to-gain", "warning", text, {"gain": ladder.gain, "se": ladder.gain_se}))
    if lost:
        rows = sorted({o.row for o in lost})
        text = f"{len(rows)} rows have outliers: {', '.join(campaign.line(r) for r in rows[:5])}" + " ..." * (
            len(rows) > 5
        )
        out.append(Finding("outliers", "warning", text, {"rows": rows}))
    if poses < 15:
        out.append(
            Finding(
                "few-poses",
                "warning",
                f"{poses} poses are few; intervals are wide and may be too narrow still",
                {"poses": poses},
            )
        )
    if not chosen.fit.converged:
        out.append(
            Finding(
                "not-converged",
                "warning",
                "the search did not settle; the estimate is its last point",
                {"steps": chosen.fit.steps},
            )
        )
    return tuple(out)


def discrepancy_of(chosen: Fit, instrument: Instrument) -> tuple[float, tuple[Finding, ...]]:
    """Model discrepancy in m per axis: scatter of the points beyond what repeats, or the user, vouch for.

    Tested at 1 %: by F against repeats, by chi2 against a stated noise.
    """
    from scipy.special import chdtri, fdtri

    post, s = chosen.posterior, chosen.task.sight.states
    names = [scale.name for scale in post.blocks.scales]
    if "points" not in names:
        return 0.0, ()
    seen = float(np.exp(post.log_scales[names.index("points")]))
    freedom = max(1.0, post.blocks.power * post.blocks.count - post.effective)
    if s.scatter_freedom >= 5 and instrument.tracker is None:
        seen = _whole_noise(chosen)  # repeats vouch for all of it, joints that stop elsewhere included
        known, limit, word = s.scatter / np.sqrt(s.mean_repeats), fdtri(freedom, s.scatter_freedom, 0.99), "repeats"
    elif instrument.sd is not None or instrument.tracker is not None:
        known, limit, word = instrument.scale().start, chdtri(freedom, 0.01) / freedom, "the stated noise"
    else:
        return 0.0, ()
    ratio = seen / known
    if ratio**2 <= limit:
        return 0.0, ()
    text = f"residuals scatter {ratio:.2g} times as much as {word} lets expect; the model leaves something out"
    found = Finding("lack-of-fit", "warning", text, {"ratio": ratio, "limit": float(np.sqrt(limit))})
    unit = 1.0 if instrument.tracker is None else instrument.tracker.across
    return float(np.sqrt(seen**2 - known**2)) * unit, (found,)


def _whole_noise(chosen: Fit) -> float:
    """Sd of a coordinate by all parts of the noise, in m."""
    post, sight = chosen.posterior, chosen.task.sight
    first = len(post.blocks.groups)
    variance = np.zeros(post.blocks.used.shape)
    for part, log_scale in zip(post.blocks.noise, post.log_scales[first:], strict=True):
        variance += np.exp(2 * log_scale) * np.sum(part.factor**2, axis=2)
    lengths = post.blocks.used & np.tile(sight.lengths, sight.states.slots)
    return float(np.sqrt(variance[lengths].mean()))
