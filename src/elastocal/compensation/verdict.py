"""What can be said of a corrected program: how much of it is corrected, and what error is left to be expected.

code                  says
nothing-to-correct    that a robot without loads and errors is where it should be
motions               how many motions are corrected, and how far the tool is off without correction
between-targets       how far the tool leaves the way between them
contributions         how much of that load, weight, joint errors, geometry and backlash make
rounding              how finely the new digits state the targets, which is no accuracy
residual-by-model     what the model itself leaves, where targets stay uncorrected or the correction is approximate
predicted             residual error predicted after correction, from the covariance of the calibration
not-calibrated        nothing is known of it
not-corrected         no target is corrected
taken-as-exact        what the prediction leaves out
assumed-weights       most of the correction rests on masses that are assumed
truth                 residuals on a simulated true robot, and whether they break the prediction
first-order           the correction is approximate, for comparison
mixed                 corrected and uncorrected motions stand side by side, or none is corrected
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isfinite
from typing import TYPE_CHECKING

import numpy as np

from elastocal.compensation.branches import some_places
from elastocal.compensation.correction import (
    IMPLAUSIBLE,
    WEIGHT,
    geometry_kinds,
    remaining,
    unmeasured_geometry,
)
from elastocal.compensation.targets import TargetStatus
from elastocal.compensation.verification import Verification
from elastocal.quantities import length, millimetres
from elastocal.results import Finding
from elastocal.solve.summary import rms

if TYPE_CHECKING:
    from elastocal.compensation.contributions import Contributions
    from elastocal.compensation.correction import Correction
    from elastocal.compensation.program import Move

ROUNDING = 1e-9
"""m below which a contribution is not more than rounding."""
DOUBTFUL = 0.5
"""Share of a contribution that its 95 % half width may be, where it counts as certain."""
MOST = 6
"""Parameters that are named one by one."""
BROKEN = 2.0
"""Times the predicted rms that the truth is hardly off by chance: two standard deviations where one direction rules."""


CONFIGURATION = ("configuration", "confdata")
"""Codes of warnings of the way that an arm reaches its targets."""
UNMEASURED = "prior-compliance"
"""Code of the warning of a calibration that saw no load."""
DOUBTS = (UNMEASURED, IMPLAUSIBLE)


def verdict(result: Correction, fixed: Sequence[str] | None = None) -> tuple[Finding, ...]:
    """The first things to know; ``fixed`` are parameters that a calibration took as exact, where a file names them."""
    doubts = [replace(w, text=f"WARNING {w.code.upper()}: {w.text}.") for w in result.warnings if w.code in DOUBTS]
    if result.nothing and not any(w.code in CONFIGURATION for w in result.warnings):
        return (_nothing(result), *doubts, _predicted(result), *_exact(result, fixed), *_truth(result))
    out = [_motions(result), *doubts, *_left_by_model(result), _predicted(result), *_exact(result, fixed)]
    out += [*_between(result), *_contributions(result), *_assumed_weights(result), *_truth(result)]
    if result.method.first_order:
        message = "First order only, for comparison: the full correction leaves a smaller residual error."
        out.append(Finding("first-order", "note", message))
    return (*out, *_mixed(result))


def predicted_rms(result: Correction) -> float:
    """Root mean square of the residual errors predicted at corrected targets, in m."""
    return rms(result.predicted[result.corrected])


def _motions(result: Correction) -> Finding:
    done, total = result.motions
    before = result.before.distances()
    model = "calibrated model" if result.covariance is not None else "model"
    doubts = [w for w in result.warnings if w.code in CONFIGURATION]
    unread = result.program.unread
    whole = _complete(result) and not doubts and not unread
    how_many = "Every motion of the program is" if whole else f"{done} of {total} motions of the program are"
    as_computed = (
        ", IF THE ARM REACHES THEM AS COMPUTED: configuration data do not fit, see the warnings" if doubts else ""
    )
    if unread:
        called = f"{len(unread)} ROUTINES" if len(unread) > MOST else ", ".join(unread)
        as_computed += f", IF CALLS LEAVE BASE AND TOOL AS THEY ARE ({called}: not in its folder)"
    if result.leaves_way:
        how_many = "Every target of the program is" if whole else how_many
        as_computed += ", BUT NOT THE WAY BETWEEN TARGETS"
    message = (
        f"{how_many} corrected{as_computed}. Without correction the tool is off by "
        f"{millimetres(before.rms)} mm RMS, {millimetres(before.max)} mm at most, by the {model}."
    )
    data: dict[str, object] = {"corrected": done, "motions": total, "before_rms": before.rms, "before_max": before.max}
    if unread:
        data["unread"] = unread
    return Finding("motions", "note", message, data)


def _nothing(result: Correction) -> Finding:
    done, total = result.motions
    which = "at every motion" if _complete(result) else f"at {done} of {total} motions"
    message = f"NOTHING TO CORRECT: by the model the tool is where the program says {which}; it stays as it is."
    return Finding("nothing-to-correct", "note", message, {"motions": total, "looked_at": done})


def _between(result: Correction) -> tuple[Finding, ...]:
    """How far the tool leaves the way, and what to do."""
    way, worst = result.along, result.along.worst
    out: list[Finding] = []
    if worst is not None:
        last = f"{worst.file}, line {worst.line}"
        message = f"Between targets the tool is off its way by up to {length(way.most)} by the model ({last})."
        if way.at_turn:
            message += " The load turns at once there: points shorten the way that is off, no command removes it."
            if _enters(result, worst):
                message += " Where the cutter enters or leaves along it, let its force grow or fall there (lead_lines)."
        data: dict[str, object] = {"file": worst.file, "line": worst.line, "max": way.most, "rest": way.rest}
        if result.leaves_way and result.method.densify is None:
            message += " Have points put into lines and arcs (densify)."
            data["parameter"] = "densify"
        if way.others:
            message += f" Not looked at: {way.others} splines, or moves from an unknown place or another tool."
            data["others"] = way.others
        out.append(Finding("between-targets", "warning" if result.leaves_way else "note", message, data))
    if way.lost:
        lines = some_places([f"{m.file}, line {m.line}" for m in way.lost])
        message = (
            f"{lines}: BETWEEN THE TARGETS THE WAY LEAVES THE REACH of the arm, or its loaded state is not determined."
        )
        out.append(Finding("way-not-reached", "warning", message, {"lines": tuple(m.line for m in way.lost)}))
    return tuple(out)


def _enters(result: Correction, move: Move) -> bool:
    """Whether a move, or the one before or behind it, is the first or the last with load."""
    loaded = np.any(result.job.loads.moving != 0, axis=(1, 2))
    at = next((i for i, m in enumerate(result.program.moves) if m is move), None)
    return at is not None and not np.pad(loaded, 2)[at : at + 5].all()  # nothing loads before the program and behind it


def _complete(result: Correction) -> bool:
    """Whether nothing stays as it was."""
    return not result.left and bool(result.corrected.all())


def _contributions(result: Correction) -> tuple[Finding, ...]:
    """Which part of the correction each effect makes; taught targets are corrected for the load alone."""
    parts = result.contributions
    sizes = {word: part.distances().rms for word, part in parts.named.items()}
    sizes = {word: size for word, size in sizes.items() if size > ROUNDING}
    if result.method.taught or len(sizes) < 2 or result.unchanged:
        return ()
    freedom = np.inf if result.known is None else result.known.freedom
    widths = {word: parts.half_width(word, freedom) for word in sizes}
    words = {
        w: f"{w} {millimetres(s)}" + (f" +- {millimetres(widths[w])}" if isfinite(widths[w]) else "") + " mm"
        for w, s in sizes.items()
    }
    listed = ", ".join(words[w] for w in sorted(sizes, key=lambda w: -sizes[w]))
    of_it = "" if parts.backlash is None else f"; backlash makes {millimetres(parts.backlash.distances().rms)} mm of it"
    doubtful = [w for w in sizes if widths[w] > DOUBTFUL * sizes[w]]
    known = f" (+- at 95 %). {_certain(doubtful)}" if any(map(isfinite, widths.values())) else "."
    data: dict[str, object] = {word.replace(" ", "_"): size for word, size in sizes.items()}
    data |= {f"{word.replace(' ', '_')}_95": width for word, width in widths.items() if isfinite(width)}
    total = parts.total.distances().rms
    against = f" THEY CANCEL in part: {millimetres(total)} mm in all are corrected." if parts.cancel else ""
    message = f"Contributions to the correction, RMS: {listed}{of_it}{known}{against}"
    data |= {"not_certain": doubtful, "total": total, "cancel": parts.cancel}
    return (Finding("contributions", "note", message, data),)


def _certain(doubtful: Sequence[str]) -> str:
    if not doubtful:
        return "Each of them is certain to better than half of its size."
    which = " and ".join(doubtful)
    return f"NOT CERTAIN on its own: {which}; what is not told apart may be certain together."


def _left_by_model(result: Correction) -> tuple[Finding, ...]:
    """The rounding of digits where everything is corrected, else what the model itself is left off by."""
    after = result.after.distances()
    data = {"rms": after.rms, "max": after.max}
    if result.exact:
        message = (
            f"The new targets are written to within {length(after.max)}: rounding of digits, not an accuracy of "
            "the robot."
        )
        return (Finding("rounding", "note", message, data),)
    if not after.count:
        return ()
    causes = ["first order"] if result.method.first_order else []
    causes += ["shifts have the orientation of the point that they start from"] if result.turned else []
    causes += ["targets that are not corrected count as they are"] if not result.corrected.all() or not causes else []
    angle = ""
    if result.turned:
        data["max_angle"] = result.after.angles().max
        angle = f" and {1e3 * data['max_angle']:.3g} mrad"
    message = (
        f"With the new program the model is off by {length(after.rms)} RMS, {length(after.max)}{angle} at most "
        f"({'; '.join(causes)})."
    )
    return (Finding("residual-by-model", "note", message, data),)


def _predicted(result: Correction) -> Finding:
    if result.covariance is None:
        message = "The residual error of the real robot after correction is not known: there is no calibration."
        return Finding("not-calibrated", "warning", message)
    if not result.corrected.any():
        return Finding("not-corrected", "warning", "No target is corrected.")
    worst, rms = float(np.nanmax(result.half_width[result.corrected])), predicted_rms(result)
    known = result.known is not None and isfinite(result.known.discrepancy)
    model = "model discrepancy included" if known else "model discrepancy not known and not included"
    message = (
        f"Predicted residual error after correction: {length(rms)} RMS at corrected targets, and less than "
        f"{length(worst)} at 95 % confidence along the worst direction of the worst target ({model})."
    )
    whole = remaining(result)
    if whole.targets:
        message += f" THE PROGRAM AS A WHOLE IS OFF BY {length(whole.rms)} RMS: {whole.text}."
    if result.known is not None and result.known.registered:
        message += " It counts in a base and for a tool that were measured as the calibration was: by its instrument."
    return Finding(
        "predicted",
        "note",
        message,
        {
            "rms": rms,
            "worst_95": worst,
            "whole_rms": whole.rms,
            "uncorrected": whole.targets,
            "uncorrected_max": whole.farthest,
        },
    )


def _exact(result: Correction, fixed: Sequence[str] | None) -> tuple[Finding, ...]:
    """What counts as exact in the prediction; geometry and weight are in taught targets already."""
    if result.known is None:
        return ()
    kind = {p.name: p.kind for p in result.model.parameters}
    names = result.known.names
    if fixed is None:
        fixed = [p.name for p in result.model.parameters if p.value and p.name not in names]
    taught = result.method.taught
    in_targets = geometry_kinds(result.model).union(WEIGHT) if taught else ()
    exact = tuple(n for n in fixed if kind[n] not in in_targets)
    lengths = unmeasured_geometry(result)
    named = [*((lengths,) if lengths else ()), *((f"what was not estimated ({_words(exact, kind)})",) if exact else ())]
    if not named:
        return ()
    rms, total = (part.distances().rms for part in (result.contributions.weight, result.contributions.total))
    weight, weighs = "", any(kind[n] in WEIGHT for n in kind)
    if not taught and rms > 0:
        weight = f" {_of_total(result.contributions, rms, 'The weight of the arm and of what it carries')}"
    elif not taught and not weighs and any(np.any(c.compliance()) for c in result.model.coordinates):
        weight = (
            " The robot file has no masses: how the arm sags under its own weight is NOT CORRECTED. State masses, or "
            "give targets that were taught."
        )
    message = f"NOT IN THIS PREDICTION, taken as exact: {' and '.join(named)}.{weight}"
    data = {"parameters": exact, "weight_rms": rms if weighs else np.nan, "total_rms": total}
    return (Finding("taken-as-exact", "note", message, data),)


def _of_total(parts: Contributions, part: float, what: str) -> str:
    """A part of the whole; where contributions cancel none is called a part of it, since it may make it smaller."""
    total = parts.total.distances().rms
    if part <= total and not parts.cancel:
        return f"{what} makes {length(part)} RMS of the {length(total)} that are corrected."
    return (
        f"{what} alone would make {length(part)} RMS; contributions cancel some of each other, and {length(total)} in "
        "all are corrected."
    )


def _words(names: tuple[str, ...], kind: Mapping[str, str]) -> str:
    """The names, or how many there are of each effect where they are many."""
    if len(names) <= MOST:
        return ", ".join(names)
    return ", ".join(f"{n} of {k.replace('_', ' ')}" for k, n in Counter(kind[name] for name in names).items())


def _assumed_weights(result: Correction) -> tuple[Finding, ...]:
    """Where assumed masses make most of the correction."""
    weight, total = (part.distances().rms for part in (result.contributions.assumed, result.contributions.total))
    if result.known is None or result.method.taught or not weight > 0.5 * total:
        return ()
    places = tuple(dict.fromkeys(n.split(".")[0] for n in result.assumed))
    masses = f"The weight of masses that are assumed in the robot file ({', '.join(places)})"
    message = (
        f"MOST OF THE CORRECTION RESTS ON ASSUMED WEIGHTS. {_of_total(result.contributions, weight, masses)} "
        "If these points were taught with the real robot, or their base was measured with it, have the targets taken "
        "as taught: what the load adds is then corrected, and nothing else. Else measure the weights: by absolute "
        "positions or by logged torques."
    )
    return (
        Finding("assumed-weights", "warning", message, {"assumed_rms": weight, "total_rms": total, "frames": places}),
    )


def _truth(result: Correction) -> tuple[Finding, ...]:
    if result.on_truth is None:
        return ()
    before, after = result.on_truth
    first, last = before.distances(), after.distances()
    share = Verification(before, after).compensated_percent
    message = (
        f"On the simulated true robot: {length(first.rms)} RMS before, {length(last.rms)} after, {share:.2f} % "
        f"compensated; {length(last.max)} at most."
    )
    way = result.along.on_truth
    if way is not None and np.isfinite(way).any():
        move = result.along.moves[int(np.nanargmax(way))]
        message += f" Between targets {length(float(np.nanmax(way)))} at most ({move.file}, line {move.line})."
    open_ = () if way is None else [m for m, off in zip(result.along.moves, way, strict=True) if np.isnan(off)]
    if open_:
        lines = some_places([f"{m.file}, line {m.line}" for m in open_])
        message += f" {lines}: there its state is not determined at some place between, as where a joint hangs free."
    data: dict[str, object] = {
        "before_rms": first.rms, "after_rms": last.rms, "after_max": last.max, "percent": share,
        **({"between_open": tuple(m.line for m in open_)} if open_ else {}),
    }  # fmt: skip
    if way is not None and np.isfinite(way).any():
        data["between_max"] = float(np.nanmax(way))
    good = result.corrected
    if result.known is not None and result.known.registered:
        message += " That is in the true robot's own base, which readings do not show."
        return (Finding("truth", "note", message, data),)
    if result.covariance is None or not good.any():
        return (Finding("truth", "note", message, data),)
    left, hoped = rms(after.distance[good]), predicted_rms(result)
    data |= {"times_predicted": left / hoped if hoped > 0 else np.inf}
    if left > BROKEN * hoped:
        message += (
            f" THAT IS {left / hoped:.3g} TIMES THE PREDICTED RESIDUAL ERROR ({length(left)} for {length(hoped)} RMS): "
            "something that counts as exact is not."
        )
    return (Finding("truth", "note", message, data),)


def _mixed(result: Correction) -> tuple[Finding, ...]:
    """What stays as it was, where something does."""
    if _complete(result):
        return ()
    bad, lines = int((~result.corrected).sum()), len(result.left)
    targets = "" if not bad else f"{bad} target{'s' * (bad > 1)} cannot be corrected, and "
    stay = "1 motion line stays as it is" if lines == 1 else f"{lines} motion lines stay as they are"
    if result.unchanged:
        code, mixed, end = "nothing-corrected", "THE PROGRAM STAYS AS IT WAS", ", and no program is written"
    else:
        code, mixed, end = "mixed", "THE PROGRAM MIXES CORRECTED AND UNCORRECTED MOTIONS", ""
    message = f"{mixed}: {targets}{stay} in all{_reasons(result)}; they are listed with the reason{end}."
    return (Finding(code, "warning", message, {"targets": bad, "lines": lines}),)


def _reasons(result: Correction) -> str:
    """What keeps targets from being corrected, the most frequent first."""
    bad = Counter(TargetStatus(int(s)) for s in result.commands.status[~result.corrected])
    named = [f"{status.name.lower().replace('_', ' ')} {n}" for status, n in bad.most_common()]
    return f" ({', '.join(named)})" if bad else ""
