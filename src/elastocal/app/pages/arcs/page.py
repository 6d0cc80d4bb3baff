"""Fitted arcs as a report."""

from __future__ import annotations

from elastocal.app.commands.arcs import ArcsResult
from elastocal.app.pages.arcs.points import point_table, residual_lines
from elastocal.app.pages.arcs.tables import arc_table, bad_table, known_table, variant_table
from elastocal.app.tracking.tracked import KnownArc
from elastocal.app.tracking.tracked_free import FreeArcs
from elastocal.report.blocks import Block, Fact, Report, Section

_MEANS = (
    "Accuracies are standard deviations: exact first-order covariance of the fit, for the noise stated or, where the "
    "residuals are larger or none is stated, for that of the residuals."
)


def page(result: ArcsResult) -> Report:
    sections = [Section("Arcs", (arc_table(result),))]
    if result.known:
        sections.append(Section("Markers with known angles", (known_table(result.known),)))
    if result.free is not None and result.free.variants is not None:
        sections.append(Section("One rigid body?", (variant_table(result.free.variants, result.table.dimension),)))
    bad = bad_table(result.table, result.known, result.free)
    points: tuple[Block, ...] = (point_table(result), residual_lines(result))
    sections += [Section("Points that the others contradict", (bad,))] if bad.rows else []
    sections.append(Section("Residuals", points))
    return Report("Arcs of tracked points", verdict(result), tuple(sections), result.notes, facts(result))


def facts(result: ArcsResult) -> tuple[Fact, ...]:
    from elastocal.app.version import VERSION

    table, known = result.table, tuple(a.marker for a in result.known)
    noise = None if result.noise is None else 1e6 * result.noise
    return (
        VERSION,
        Fact("points", "points", table.file, f"{table.file}, {table.dimension} coordinates"),
        Fact("markers", "markers", table.markers, ", ".join(table.markers)),
        Fact("known", "with known angles", known, ", ".join(known) or "none"),
        Fact("noise_um", "noise", noise, "from the residuals" if noise is None else f"{noise:g} um per coordinate"),
        Fact("accuracy", "accuracy", _MEANS, "standard deviations"),
    )


def verdict(result: ArcsResult) -> tuple[str, ...]:
    out = [_known_sentence(a) for a in result.known]
    if result.free is not None:
        out.append(_free_sentence(result.free))
        if result.free.variants is not None and result.free.variants.apart:
            out += result.free.variants.axes_words()
        out += result.free.geometric.words()
    bad = sum(len(a.bad) for a in (*result.known, *((result.free,) if result.free else ())))
    if bad:
        out.append(
            f"The others contradict {'one point' if bad == 1 else f'{bad} points'}: left out of these figures and "
            "named below; the table of arcs has the results with and without."
        )
    else:
        out.append("No point is contradicted by the others.")
    return tuple(out)


def _known_sentence(arc: KnownArc) -> str:
    fit = arc.rest
    way = "with" if fit.sense == 1 else "against"
    about = "the angle" if fit.dimension == 2 else f"the angle about the axis {_direction(fit.axis)}"
    gain = "" if arc.gain is None else f"; a plain circle knows it {arc.gain.radius:.3g} times worse"
    return (
        f"{arc.marker} runs {way} {about} on a radius of {with_sd(fit.radius, fit.radius_sd)} mm about "
        f"{_place(fit.centre)} mm{gain}."
    )


def _free_sentence(free: FreeArcs) -> str:
    fit = free.rest
    word = "radius" if len(free.markers) == 1 else "radii"
    radii = ", ".join(f"{m} {with_sd(r, s)}" for m, r, s in zip(free.markers, fit.radii, fit.radii_sd, strict=True))
    place = f"centre {_place(fit.centre)} mm"
    if fit.dimension == 3:
        place = f"axis through {_place(fit.centre)} mm along {_direction(fit.axis)}"
        if len(free.markers) > 1:
            heights = ", ".join(f"{m} {1e3 * h:.3f}" for m, h in zip(free.markers, fit.heights, strict=True))
            radii += f" mm, heights along it {heights}"
    return f"Without angles: {place}, {word} {radii} mm."


def with_sd(value: float, sd: float) -> str:
    """Both in mm; a standard deviation needs an equation to spare."""
    return f"{1e3 * value:.4f} +- " + (f"{1e3 * sd:.2g}" if sd == sd else "unknown (no equation to spare)")


def _place(centre: object) -> str:
    import numpy as np

    return "(" + ", ".join(f"{1e3 * c:.3f}" for c in np.asarray(centre)) + ")"


def _direction(axis: object) -> str:
    import numpy as np

    return "(" + ", ".join(f"{c:.4f}" for c in np.asarray(axis)) + ")"
