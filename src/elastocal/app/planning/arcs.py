"""Where to stop a joint and where to put markers, so that arcs show a gravity compensator best."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from elastocal.app.planning.request import PlanRequest
from elastocal.errors import ConflictError, InputError, TooFewError
from elastocal.untrusted import shell_line
from elastocal.values import dataclass

if TYPE_CHECKING:
    from elastocal.files.plan.arcs import ArcPlanFile
    from elastocal.procedures.compensator.marker_design import ArcPlan, PlanRow
    from elastocal.spatial.entries import Array

MOVING = "P1"


@dataclass(frozen=True, eq=False)
class ArcPlanResult:
    """``plan`` compares plans; ``q`` (m, n) are the configurations of the best one, in order."""

    request: PlanRequest
    file: ArcPlanFile
    plan: ArcPlan
    q: Array
    files: dict[Path, str]
    notes: tuple[str, ...]

    @property
    def html(self) -> Path:
        """Where the report goes unless another place is named."""
        return self.request.out / "report.html"

    @property
    def best(self) -> PlanRow:
        """By exact covariance, for the model of the markers that is asked for."""
        return self.plan.best(self.file.markers)

    @property
    def markers(self) -> tuple[str, ...]:
        return (MOVING, *(f"P0{i + 1}" for i in range(len(self.file.radii))))


def seeks_arcs(source: str) -> bool:
    """Whether the plan is one of arcs."""
    from elastocal.files.plan.read import is_plan, plans_arcs

    path = Path(source)
    return path.suffix.lower() in (".yaml", ".yml") and path.is_file() and is_plan(path) and plans_arcs(path)


def run(request: PlanRequest) -> ArcPlanResult:
    from dataclasses import replace

    import numpy as np

    from elastocal.app.planning.files import check_plan_targets, check_unfilled
    from elastocal.files.plan.arcs import read_arc_plan
    from elastocal.procedures.compensator.geometry import CompensatorGeometry
    from elastocal.procedures.compensator.marker_design import plan_arcs

    _refuse(request)
    file = read_arc_plan(Path(request.source))
    file = file if request.poses is None else replace(file, poses=request.poses)
    if file.poses < 3:
        raise TooFewError.of("poses", file.poses, "that many angles fit either sense of rotation; give at least 3")
    check_plan_targets(request, file.name, file.model, file.files)
    _configurations(file, np.array(file.limits))  # whether the other axes may stand where they are
    geometry = CompensatorGeometry.described(file.compensator, file.sense)
    plan = plan_arcs(geometry, file.poses, file.limits, file.radii, file.noise)
    q = _configurations(file, plan.best(file.markers).angles)
    result = ArcPlanResult(request, file, plan, q, {}, ())
    files, notes = _files(result)
    check_unfilled(files)
    return replace(result, files=files, notes=(*file.notes, *notes))


def _refuse(request: PlanRequest) -> None:
    """Options that belong to plans of other kinds."""
    plain = PlanRequest(request.source, request.out)
    names = {"noise": "noise-mm", "forces": "force", "markers": "marker"}
    for name in vars(plain):
        if name not in ("source", "out", "poses") and getattr(request, name) != getattr(plain, name):
            raise ConflictError(f"--{names.get(name, name)} does not go with measurement: arcs; leave it out")


def _configurations(file: ArcPlanFile, angles: Array) -> Array:
    """Joint values (m, n) with the compensator's joint at these angles and the other axes where they stand."""
    from elastocal.procedures.compensator.marker_design import plan_configurations

    at = file.model.controller.to_joints(file.axes[None])[0]
    try:
        return plan_configurations(file.model, file.compensator.joint, angles, at, file.limits)
    except InputError as error:
        raise error.reworded(f"{file.files[0]}: {error}; say with at_deg where the axes stand") from None


def _files(result: ArcPlanResult) -> tuple[dict[Path, str], tuple[str, ...]]:
    """A table of points to fill in, and a program."""
    import numpy as np

    from elastocal.app.planning.files import measuring_program
    from elastocal.design.method import Stop
    from elastocal.files.plan.arcs import arc_table_text

    file, out = result.file, result.request.out
    joint = file.compensator.joint
    axis = file.model.controller.axes[file.model.joints.index(joint)]
    shown = file.model.controller.to_controller(result.q)[:, file.model.joints.index(joint)]
    halts = tuple(Stop(q, (f"pose {i + 1}: read {', '.join(result.markers)}",)) for i, q in enumerate(result.q))
    texts, notes = measuring_program(file.name, file.model, halts, result.request.wait, result.request.language)
    texts["plan.csv"] = arc_table_text(axis, np.degrees(shown), result.markers)
    pivots = [word for m in result.markers[1:] for word in ("--pivot", m)]
    typed = shell_line("compensator", "plan.csv", "--moving", MOVING, *pivots, "--joint", joint, "--robot", file.robot)
    words = (
        f"Fill in plan.csv, then: {typed}",
        f"{MOVING} is the spring's end on the moving link; the others sit on the body that turns about its fixed end. "
        "Nothing but joint limits is checked.",
    )
    return {out / name: text for name, text in texts.items()}, (*words, *notes)
