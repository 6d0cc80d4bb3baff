"""What is known before a plan: calibrations and campaigns measured already, as information on parameters."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from elastocal.errors import InputError
from elastocal.files.place import path_of

if TYPE_CHECKING:
    from elastocal.design.task import Earlier, PlanTask
    from elastocal.spatial.entries import Array


def earlier(task: PlanTask, words: tuple[str, ...], folder: Path) -> PlanTask:
    """The task with the information of these files; the model takes the values of every calibration in turn."""
    found = []
    for word in words:
        path = folder / path_of(word)
        if path.suffix.lower() == ".json":
            task, known = _calibration(task, path)
        else:
            known = _campaign(task, path)
        found.append(known)
    return replace(task, earlier=(*task.earlier, *found))


def _calibration(task: PlanTask, path: Path) -> tuple[PlanTask, Earlier]:
    """Parameters that were calibrated but are not sought now are as uncertain as the calibration says."""
    import numpy as np

    from elastocal.files.calibration.read import read_calibration

    record = read_calibration(path)
    values = {p.name: p.value for p in record.parameters if p.name in task.model.parameters.names}
    if not set(record.names) & set(values):
        raise InputError(f"{path}: calibrates nothing that robot {task.model.name} has; give a calibration of it")

    def known(names: tuple[str, ...]) -> Array:
        out = np.zeros((len(names), len(names)))
        both = [n for n in names if n in record.names]
        at, to = [record.names.index(n) for n in both], [names.index(n) for n in both]
        spread = record.covariance[np.ix_(at, at)]
        size = np.sqrt(np.diag(spread))
        inverse = np.linalg.inv(spread / np.outer(size, size)) / np.outer(size, size)
        out[np.ix_(to, to)] = (inverse + inverse.T) / 2
        return out

    return replace(task, model=task.model.with_parameters(values)), known


def _campaign(task: PlanTask, path: Path) -> Earlier:
    from elastocal.design.observed import earlier_information
    from elastocal.files.campaign.read import read_campaign

    file, model = read_campaign(path), task.model
    if file.model.joints != model.joints:
        raise InputError(f"{path}: its robot has other joints than {model.name}; give a campaign of this robot")
    return lambda names: earlier_information(file.campaign, model, names)
