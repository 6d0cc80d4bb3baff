"""The certificate of a calibration: one sheet with a decision against a tolerance."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from elastocal.app.cells.roles import Fill, Uses
from elastocal.app.cli import options as o
from elastocal.app.cli.command import command
from elastocal.errors import MissingError
from elastocal.report.blocks import Report
from elastocal.values import dataclass

if TYPE_CHECKING:
    from elastocal.report.certificate import Certificate


@dataclass(frozen=True, eq=False)
class CertificateResult:
    """A robot that fails ends the command with 1."""

    certificate: Certificate
    files: Mapping[Path, str | bytes]

    @property
    def failed(self) -> bool:
        return self.certificate.outcome == "FAIL"


_CELL = Uses({"calibration": "calibration"}, (Fill("out", "reports", "certificate.pdf"),))


@command("daily", 8, _CELL, report=False)
def certificate(
    calibration: o.Calibration,
    out: Annotated[Path, o.option("FILE.pdf", "PDF/A-3b with the result attached; or .html, .json."), o.WRITTEN],
    validate: Annotated[
        Path | None, o.option("CAMPAIGN.yaml|TABLE", "Readings that took no part (default: those of calibrate).")
    ] = None,
    refit: o.Refit = False,
    tolerance: o.Tolerance = None,
    units: o.ColumnUnits = None,
    euler: o.Euler = None,
) -> CertificateResult:
    """PASS, FAIL or NOT DECIDED against a tolerance, on one sheet of A4.

    Errors before and after on validation poses, here or of 'calibrate --validate', the decision rule in words, and what
    cell.yaml states under certificate: robot, instrument, operator, conditions. Ends with 1 where the robot fails.

    \b
    Example:
      elastocal certificate calibration.json --validate check/campaign.yaml --tolerance 0.3 --out certificate.pdf
    """
    from elastocal.app.cells.trace import current, stated_for_certificate
    from elastocal.app.commands.validate import validate as validated
    from elastocal.calibration.certificate import certificate_of
    from elastocal.calibration.page import certificate_contents
    from elastocal.calibration.store import read_calibration, read_validation

    stated = stated_for_certificate(tolerance)
    cal = read_calibration(calibration)
    if validate is None:
        for name, given in (("refit", refit), ("units", units), ("euler", euler)):
            if given:
                raise MissingError(f"--{name} is of readings, and none are given; add --validate", parameter=name)
        checked = read_validation(calibration)
    else:
        checked = validated(calibration, validate, refit=refit, units=units, euler=euler).validation
    made = certificate_of(cal, checked, stated, current().inputs)
    contents = certificate_contents(cal, made, out.suffix.lower(), checked, stated.tolerance)
    return CertificateResult(made, {out: contents})


def page(result: CertificateResult) -> Report:
    c = result.certificate
    warned = tuple(f"WARNING: {w.removesuffix('.')}." for w in c.warnings)
    return Report(f"Certificate {c.number}: {c.item}", warned, (), certificate=c)
