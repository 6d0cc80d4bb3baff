"""A calibration as a report: verdict, models tried, errors by pose, parameters, noise, outliers, placing."""

from __future__ import annotations

from math import isfinite
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elastocal.calibration.certificate import ANGLES, certificate_of, expected_errors
from elastocal.calibration.figures import (
    agreement_lines,
    budget_bars,
    campaign_scene,
    correlation_map,
    error_lines,
    figures_of,
    forests,
    residual_figures,
    residual_lines,
)
from elastocal.calibration.ladder import CONFIDENCE, SURE
from elastocal.calibration.tables import (
    errors_table,
    ladder_table,
    noise_table,
    orientation_tables,
    outliers_table,
    parameters_table,
    placing_table,
)
from elastocal.errors import InputError
from elastocal.quantities import DASH
from elastocal.report.blocks import Fact, Figure, Lines, Report, Section, Tile
from elastocal.report.certificate import STATES, Certificate
from elastocal.results import as_sentence

if TYPE_CHECKING:
    from elastocal.calibration.accuracy import Validation
    from elastocal.calibration.calibration import Calibration
    from elastocal.files.cell import Stated
    from elastocal.results import Finding

HOW_TO_CERTIFY = "A certificate with PASS or FAIL as page one: state its tolerance under certificate in cell.yaml."
UNPROVED = (
    "Not validated: leave-one-out errors are of the poses measured here. Validate it on "
    "poses that take no part in the fit."
)
SHOWN = 60
"""Parameters in the report, the best known first; all are in the file."""


def calibration_page(
    c: Calibration,
    validation: Validation | None = None,
    facts: tuple[Fact, ...] = (),
    *,
    stated: Stated | None = None,
) -> Report:
    """``stated`` is what people state for the certificate, which is the first page where anything is stated."""
    wanted = stated is not None and stated.asked_for
    certificate = certificate_of(c, validation, stated) if wanted and c.before.unit == "m" else None
    tolerance = None if stated is None else stated.tolerance
    notes = [w.text for w in c.warnings if w.severity == "note"]
    sections = [
        Section(
            "Accuracy",
            (*figures_of(c, validation, tolerance), errors_table(c, validation), *orientation_tables(c, validation)),
        ),
        Section("Parameters", (*forests(c)[:1], parameters_table(c, SHOWN)) if len(c.parameters) else ()),
        Section("Residuals", (residual_lines(c), *((agreement_lines(c),) if c.words else ()))),
        Section("Uncertainty budget", _kept(budget_bars(c))),
        Section("Robot and campaign", (campaign_scene(c),)),
        Section("Outliers", (outliers_table(c),), folded=not c.outliers),
        Section("More on parameters", (*forests(c)[1:], *_kept(correlation_map(c))), folded=True),
        Section("More on residuals", residual_figures(c), folded=True),
        Section("Leave-one-out", (error_lines(c, tolerance),) if validation else (), folded=True),
        Section("Models tried", (ladder_table(c),), folded=True),
        Section("Noise", (noise_table(c),), folded=True),
        Section("Stations and markers", (placing_table(c),), folded=True),
    ]
    return Report(
        f"Calibration of {c.robot.name}",
        (
            *_speaks_against(validation),
            c.verdict.text,
            *_validated(validation, c),
            *(f"WARNING {w.code.upper()}: {w.text}." for w in c.doubts),
        ),
        tuple(s for s in sections if s.blocks),
        tuple(
            dict.fromkeys(map(as_sentence, (*notes, *c.robot.notes, *((ANGLES,) * (wanted and certificate is None)))))
        ),
        facts,
        data={"findings": [vars(f) | {"data": dict(f.data)} for f in _findings(c, validation)]},
        tiles=_tiles(c, validation, certificate),
        certificate=certificate,
        hint="" if wanted else HOW_TO_CERTIFY,
    )


def _kept(block: Figure | None) -> tuple[Figure, ...]:
    return () if block is None else (block,)


def _tiles(c: Calibration, v: Validation | None, certificate: Certificate | None) -> tuple[Tile, ...]:
    before, after = (c.before, c.claim) if v is None else (v.before, v.after)
    basis = "RMS, leave-one-out" if v is None else "RMS, validation"
    now = "RMS, fitted again without a fifth of the poses in turn" if v is None and c.optimistic else basis
    known = sum(not e.code for e in c.parameters.rows)
    decided = () if certificate is None else (_decision_tile(certificate),)
    unit = before.shown
    checked = "no validation poses" if v is None else f"{v.after.count} points, worst {1e3 * v.after.max:.3f} {unit}"
    fails, keep = "the kept model is not better: choose again", "no model is better: keep the nominal robot"
    none = fails if c.ladder.kept_fails else keep
    size = f"{1e3 * after.rms:.3f}" if isfinite(after.rms) else DASH
    gained = Tile("error after", size, unit, now, "after")
    return (
        *decided,
        Tile("error before", f"{1e3 * before.rms:.3f}", unit, basis, "before"),
        gained if c.words else Tile("error after", DASH, "", none, "after"),
        _expected_tile(c, v),
        Tile(
            "validation",
            DASH if v is None else f"{100 * v.coverage:.0f} %",
            "",
            f"in 95 % intervals; {checked}" if v else checked,
        ),
        Tile(
            "parameters",
            str(len(c.parameters)),
            "",
            f"{' + '.join(c.words) or 'nominal'}; {known} determined by the readings",
        ),
        Tile("outliers", str(len({o.row for o in c.outliers})), "", "rows with readings left out", "outlier"),
    )


def _expected_tile(c: Calibration, v: Validation | None) -> Tile:
    """Comparable with the error after: of one reading, noise and all."""
    expected = expected_errors(c, v)
    if expected is None or c.before.unit != "m":
        none = "orientations: not known" if c.before.unit != "m" else "deflections: by validation poses only"
        return Tile("expected", DASH, "", none, "expected")
    where = f"at {'measured' if v is None else 'validation'} poses"
    of = "the tool's place itself" if c.placed else "deflections themselves"
    of = "distances themselves" if c.seen.distances_alone else of
    how = f"RMS of one reading with its noise, {where}; {of}: {1e3 * expected[0]:.3f} mm, k = 2"
    return Tile("expected", f"{1e3 * expected[1]:.3f}", "mm", how, "expected")


def _decision_tile(certificate: Certificate) -> Tile:
    size = certificate.numbers["tolerance"]
    against = f"tolerance {1e3 * size:g} mm" if size == size else "no tolerance"
    return Tile("decision", certificate.outcome, "", against, "", STATES[certificate.outcome])  # type: ignore[arg-type]


def _findings(c: Calibration, v: Validation | None) -> tuple[Finding, ...]:
    """What speaks against the result on readings that took no part comes first."""
    if v is None:
        return (c.verdict, *c.warnings)
    own, seen = (c.verdict, *c.warnings), (v.verdict, *v.warnings)
    return (*seen, *own) if v.verdict.severity == "warning" else (*own, *seen)


def _speaks_against(v: Validation | None) -> tuple[str, ...]:
    if v is None:
        return ()
    warned = (f"WARNING {w.code.upper()}: {w.text}." for w in v.warnings)
    return (*((v.verdict.text,) if v.verdict.severity == "warning" else ()), *warned)


def _validated(v: Validation | None, c: Calibration) -> tuple[str, ...]:
    if v is None:
        return (*_gain(c), UNPROVED) if c.words else ()
    gain = f"{1e3 * v.gain:.3f} +- {1e3 * v.gain_half_width:.3f} mm"
    return (
        f"Validation: {v.after.text()}, nominal {v.before.text()}; gain {gain} (95 %); 95 % intervals hold "
        f"{100 * v.coverage:.0f} % of the coordinates.",
    )


def _gain(c: Calibration) -> tuple[str, ...]:
    """By how much the mean error falls, and the interval that the choice of the model rests on."""
    if not isfinite(sum(c.gain)):
        return ()
    gain, half = 1e3 * c.gain[0], 1e3 * c.gain[1]
    by = "fitted again without a fifth of the poses in turn" if c.optimistic else "leave-one-out"
    sure = f"{100 * CONFIDENCE:.1f} %, {SURE:g} standard errors over poses, {by}"
    return (f"Gain over the nominal robot: {gain:.3f} +- {half:.3f} {c.before.shown} ({sure}).",)


def write_report(
    c: Calibration,
    path: str | PathLike[str],
    validation: Validation | None = None,
    stated: Stated | None = None,
    *,
    standalone: bool = False,
) -> Path:
    """One HTML file that opens offline; ``standalone`` puts the script of turnable pictures into it."""
    from elastocal.files.write import check_targets, write_files, write_script
    from elastocal.report.html import as_html, bundle_name, has_scene, plotly_script

    target = Path(path)
    check_targets({"report": target})
    page = calibration_page(c, validation, stated=stated)
    if has_scene(page) and not standalone:
        write_script(target.parent / bundle_name(), plotly_script)
    write_files({target: as_html(page, standalone=standalone)})
    return target


def certificate_contents(
    c: Calibration, certificate: Certificate, suffix: str, validation: Validation | None, tolerance: float | None
) -> str | bytes:
    """The certificate alone as .pdf, .html or .json."""
    from elastocal.calibration.store import to_document
    from elastocal.results import as_json

    figure = next((f for f in figures_of(c, validation, tolerance) if isinstance(f, Lines)), None)
    result = {"certificate": certificate.data(), "calibration": to_document(c)}
    if suffix == ".pdf":
        from elastocal.report.certificate import as_pdf

        return as_pdf(certificate, result, figure)
    if suffix == ".json":
        return as_json(result) + "\n"
    if suffix not in (".html", ".htm"):
        raise InputError(f"a certificate ends in .pdf, .html or .json, not {suffix!r}", code="suffix", value=suffix)
    from elastocal.report.html import as_html

    sections = (Section("", (figure,)),) if figure is not None else ()
    return as_html(Report("Calibration certificate", (), sections, certificate=certificate))


def write_certificate(
    c: Calibration, path: str | PathLike[str], validation: Validation | None = None, stated: Stated | None = None
) -> Path:
    from elastocal.files.write import write_files

    target, made = Path(path), certificate_of(c, validation, stated)
    tolerance = None if stated is None else stated.tolerance
    write_files({target: certificate_contents(c, made, target.suffix.lower(), validation, tolerance)})
    return target


class Plots:
    """Figures of a calibration as ``plotly.graph_objects.Figure``."""

    def __init__(self, calibration: Calibration) -> None:
        self._calibration = calibration

    def __repr__(self) -> str:
        return f"<figures of a calibration: {', '.join(f'{n}()' for n in vars(Plots) if not n.startswith('_'))}>"

    def errors(self) -> Any:
        """Leave-one-out error of every pose."""
        return _figure(error_lines(self._calibration))

    def residuals(self) -> Any:
        """Residuals of the coordinates in sd of the noise, by pose."""
        return _figure(residual_lines(self._calibration))

    def agreement(self) -> Any:
        """Measured against predicted deviation from the nominal robot."""
        return _figure(agreement_lines(self._calibration))


def _figure(block: Lines) -> Any:
    import plotly.graph_objects as go

    from elastocal.report.figures import lines

    return go.Figure(**lines(block))
