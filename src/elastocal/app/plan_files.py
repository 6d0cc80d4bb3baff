"""What a plan is measured by: a table and a campaign file that the other commands read, and a program."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from elastocal.app.plan_request import PlanRequest

if TYPE_CHECKING:
    from elastocal.design.pool import Pool
    from elastocal.design.study import Planned
    from elastocal.files.plan_entry import PlanFile


def plan_files(
    request: PlanRequest, file: PlanFile, found: Planned, pool: Pool
) -> tuple[dict[Path, str], tuple[str, ...]]:
    """The table and campaign file that the other commands read, and a program where the controller is a KUKA's."""
    import numpy as np

    from elastocal.app.plan_program import stops
    from elastocal.files.campaign_entry import Requests
    from elastocal.files.campaign_write import campaign_text, table_text
    from elastocal.files.krl_plan import krl_files, speaks_krl
    from elastocal.files.robot_word import robot_file
    from elastocal.measure.campaign import Campaign

    task, out = found.offer.task, request.out
    rows = np.repeat(np.arange(len(pool)), task.repeats)
    each = pool.picked(rows)
    kind = task.measuring.at(each.q, each.load)
    campaign = Campaign(kind, np.full((kind.count, len(kind.rows)), np.nan), task.measuring.sources)
    robot = file.robot
    if (own := robot_file(robot)) is not None:
        robot = Path(os.path.relpath(file.folder / own if file.located else own, out)).as_posix()
    asked = Requests(found.offer.observed.names, (), file.form)
    words = {"robot": robot, "table": "plan.csv", "requests": asked, "tool": file.tool, "without": file.without}
    text = campaign_text(campaign, task.model, name=file.name, **words)  # type: ignore[arg-type]
    files = {out / "campaign.yaml": text, out / "plan.csv": table_text(campaign, task.model)}
    if not speaks_krl(task.model):
        axes = ", ".join(task.model.controller.axes)
        return files, (f"No KUKA program is written: the controller's axes are {axes}, not A1 to A6.",)
    warning = (
        f"{file.name}: poses of a calibration campaign",
        "Ways between poses are only checked against what the plan file names: run slowly and watch.",
    )
    texts = krl_files(file.name, task.model, stops(pool, task.measuring.kind, task.repeats), warning, request.wait)
    return files | {out / name: text for name, text in texts.items()}, ()
