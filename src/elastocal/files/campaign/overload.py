"""Loads that no arm is meant for: slips of units that would bend the robot of the file by a tenth of itself.

Far beyond, no state is determined and a search for parameters would go on for hours without an answer.
"""

from __future__ import annotations

import numpy as np

from elastocal.errors import InputError
from elastocal.files.campaign.checks import SOFT
from elastocal.files.campaign.readings import Readings
from elastocal.files.tables.configurations import WRENCH
from elastocal.files.tables.raw import cell
from elastocal.files.units import FORCE, MOMENT
from elastocal.measure.setup import Setup
from elastocal.model.robot import RobotModel
from elastocal.model.statics.deflection import linear_deflection


def check_loads(found: Readings, model: RobotModel, setup: Setup, size: float) -> None:
    """Refuse the worst load if the linear model of the robot file lets the arm bend by more than a tenth of it."""
    load = setup.load
    bend = np.linalg.norm(linear_deflection(model, setup.q, [load], load.frame).translation, axis=1)
    row = int(np.argmax(bend))
    if not bend[row] > SOFT * size:
        return
    wrench = np.broadcast_to(load.wrench, (setup.count, 6))[row]
    axis = int(np.argmax(np.abs(wrench) / [1, 1, 1, size, size, size]))
    said = (
        f"{abs(wrench[axis]):.3g} {'N' if axis < 3 else 'N m'} at {load.frame}, would bend the arm by {bend[row]:.3g} "
        f"m by the compliances of the robot file, on a robot of {size:.3g} m"
    )
    if found.wrenches is None:
        raise InputError(f"the load of the campaign file: {said}; check its unit, and that of the compliances")
    table, line = next(iter(found.cells[row].values()))
    column = table.columns.fields[WRENCH[axis]]
    text, place = cell(table.raw, table.raw.rows[line], column)
    meant = _meant(table.raw.header[column.place], float(bend[row]), SOFT * size)
    raise InputError(f"{place}: {text}, that is {said}; {meant}")


def _meant(column: str, bend: float, most: float) -> str:
    name, _, unit = column.rpartition("_")
    units = FORCE if unit in FORCE else MOMENT
    better = [u for u, factor in units.items() if bend * factor / units.get(unit, 1.0) <= most]
    return f"check the unit: was {name}_{better[0]} meant?" if better else "correct the load or the compliances"
