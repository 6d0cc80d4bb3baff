"""Maps of the calibrated robot over its workspace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elastocal.app.pages.workspace_maps import workspace_blocks
from elastocal.app.workspace import section, workspace
from elastocal.errors import InputError
from elastocal.measure.kind import MarkerMeasurement
from elastocal.report.blocks import Paragraphs, Section

if TYPE_CHECKING:
    from elastocal.app.commands.calibrate import CalibrateResult


TITLE = "The calibrated robot over a section of its workspace"


def workspace_section(result: CalibrateResult) -> Section:
    """Under the largest force of the campaign; empty for kinds without loads and for robots with one axis."""
    import numpy as np

    from elastocal.model.loads.wrench import AppliedWrenches

    kind, model = result.file.campaign.measurement, result.study.fit.model
    if model.n < 2 or not isinstance(kind, MarkerMeasurement) or not kind.setup.wrenches[:, :3].any():
        return Section("", ())
    where = kind.setup
    row = int(np.argmax(np.linalg.norm(where.wrenches[:, :3], axis=1)))
    load = AppliedWrenches(where.load.frame, where.wrenches[[row]], where.load.follows)
    force = ", ".join(f"{v:.4g}" for v in where.wrenches[row, :3])
    try:
        found = workspace(model, section(model, where.q), load)
    except InputError as error:  # estimates may violate physics
        return Section(TITLE, (Paragraphs((f"There are no maps: {error}.",)),))
    return Section(TITLE, workspace_blocks(found, f"Force ({force}) N, as in reading {row + 1},"))
