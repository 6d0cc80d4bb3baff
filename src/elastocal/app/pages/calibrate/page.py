"""A calibration as a report: that of a predictor, or of single parameters, whose modules only it loads."""

from __future__ import annotations

from dataclasses import replace

from elastocal.app.commands.calibrate import CalibrateResult
from elastocal.app.predictor import Predictor
from elastocal.calibration.page import calibration_page
from elastocal.calibration.tables import parameters_table
from elastocal.report.blocks import Report, Table


def page(result: CalibrateResult | Predictor) -> Report:
    if isinstance(result, Predictor):
        whole = calibration_page(result.calibration, result.validation, result.facts, stated=result.stated)
        return replace(whole, notes=(*whole.notes, *result.notes))
    from elastocal.app.pages.calibrate.parameters import report

    return report(result)


def table(result: CalibrateResult | Predictor) -> Table:
    """Of the parameters."""
    if isinstance(result, Predictor):
        return parameters_table(result.calibration)
    from elastocal.app.pages.calibrate.parameters import table_of

    return table_of(result)
