"""Cartesian compliance and stiffness in chosen configurations or over a grid of two axes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

from elastocal.app.cells.roles import Uses
from elastocal.app.cli import options as o
from elastocal.app.cli.command import command, writes
from elastocal.app.cli.progress import Progress
from elastocal.errors import ConflictError, RangeError
from elastocal.report.blocks import Fact
from elastocal.values import dataclass

if TYPE_CHECKING:
    from elastocal.app.applied_load import AppliedLoad
    from elastocal.app.configurations import Configurations
    from elastocal.app.grid import Grid
    from elastocal.model.loads.wrench import AppliedWrenches
    from elastocal.model.robot import Robot
    from elastocal.model.statics.stiffness import CartesianStiffness
    from elastocal.spatial.entries import Array, Ints

MOST_ROWS = 1_000_000
"""Points of a map that a table may have."""
PIECE = 20_000
"""Configurations whose matrices are held at a time."""
_CELL = Uses({"robot": "robot"}, either=(("at", "map"), ("configurations",)), nominal=True)


@dataclass(frozen=True, eq=False)
class StiffnessResult:
    """``smallest`` (N,) is the translational stiffness in the softest direction, N/m, and ``status`` (N,) whether there
    is a stiffness; ``part`` gives the matrices of some configurations, which a map does not keep.  Of a map that is
    written as a table the ``diagonals`` (12, N) are kept: those of the stiffness, then those of the compliance."""

    facts: tuple[Fact, ...]
    model: Robot
    at: Configurations
    load: AppliedLoad
    loaded: bool
    frame: str
    part: Callable[[slice], CartesianStiffness]
    smallest: Array
    status: Ints
    grid: Grid | None
    notes: tuple[str, ...]
    diagonals: Array | None = None


@command("robots", 4, _CELL, csv=True, progress="stiffness")
def stiffness(
    robot: o.Robot,
    at: o.At = None,
    configurations: o.File = None,
    map: Annotated[
        str | None,
        o.option(
            "GRID",
            'Grid over a workpiece, "x:1600:2100:15,y:-150:150:11,z:800" (mm), or axes, "A2:-130:-20:12,A3:...".',
        ),
    ] = None,
    object: o.WorkObject = None,
    force: o.Force = None,
    moment: o.Moment = None,
    load_frame: o.LoadFrame = None,
    frame: o.Frame = None,
    follow: o.Follow = False,
    loaded: Annotated[
        bool, o.flag("Under weights and springs also where no external load is given.", "--loaded")
    ] = False,
    payload: o.Payload = None,
    payload_frame: o.PayloadFrame = None,
    without: o.Without = None,
    ignore_limits: o.IgnoreLimits = False,
    tool: o.Tool = None,
    progress: Progress | None = None,
) -> StiffnessResult:
    """Cartesian stiffness of a frame, at points or as a map.

    With a load or --loaded it is the stiffness at the loaded equilibrium, else that of the unloaded arm.

    \b
    Example:
      elastocal stiffness kuka-kr270 --map "A2:-130:-20:12,A3:-90:120:12"
    """
    from elastocal.app.applied_load import LoadRequest, applied_load, configurations_text, load_facts, with_payload
    from elastocal.files.robot.read import read_robot, without_kinds
    from elastocal.model.statics.stiffness import softest

    read, typed, left_out = read_robot(robot, tool), tuple(at or ()), tuple(without or ())
    model = with_payload(without_kinds(read, left_out), payload, payload_frame)
    where, grid = _where(model, typed, configurations, map, ignore_limits, object, frame)
    if len(where) > MOST_ROWS and writes("--csv"):
        raise RangeError(f"--csv: a table of {len(where)} points is too long, at most {MOST_ROWS}; take fewer points")
    load = applied_load(model, LoadRequest(force, moment, load_frame, follow), where)
    loaded = loaded or load.applied is not None
    if payload is not None and not loaded:
        raise ConflictError("a payload changes the stiffness only at the loaded equilibrium; add --loaded or --force")
    watched = frame or model.tool
    model.tree.frame(watched)
    work = _Solver(model, where.q, load.applied, loaded, watched)
    part: Callable[[slice], CartesianStiffness] = work.solved
    if grid is None:
        solution = work.solved(slice(0, len(where)), progress)
        part, smallest, status, diagonals = solution.rows, softest(solution), solution.status, None
    else:
        smallest, status, diagonals = work.mapped(writes("--csv"), progress)
    notes = (*read.notes, *where.notes, *load.notes)
    words = configurations_text(typed, configurations, map)
    state = "loaded equilibrium" if loaded else "unloaded, at the commanded configuration"
    facts = load_facts(robot, model, load, watched, state, left_out, words)
    return StiffnessResult(facts, model, where, load, loaded, watched, part, smallest, status, grid, notes, diagonals)


def _where(
    model: Robot, at: tuple[str, ...], configurations: Path | None, grid: str | None, ignore_limits: bool,
    work_object: str | None, frame: str | None,
) -> tuple[Configurations, Grid | None]:  # fmt: skip
    from elastocal.app.configurations import chosen_configurations, is_cartesian
    from elastocal.app.grid import grid_configurations, place_grid

    if grid is None:
        return chosen_configurations(model, at, configurations, ignore_limits), None
    if configurations is not None:
        raise ConflictError("--map and --configurations both give configurations; keep one")
    if len(at) > 1:
        raise ConflictError(f"--map takes one --at for the other axes, {len(at)} were given")
    if is_cartesian(model, grid):
        made = place_grid(model, grid, at, work_object, frame or model.tool)
    else:
        made = grid_configurations(model, grid, at, ignore_limits)
    return made.at, made


@dataclass(frozen=True, eq=False)
class _Solver:
    """The stiffness of a frame at joint values (N, n), part by part."""

    model: Robot
    q: Array
    applied: AppliedWrenches | None
    loaded: bool
    frame: str

    def solved(self, rows: slice, progress: Progress | None = None) -> CartesianStiffness:
        from elastocal.model.statics.stiffness import loaded_stiffness, stiffness

        if not self.loaded:
            return stiffness(self.model, self.q[rows], self.frame, progress)
        wrenches = [] if self.applied is None else [self.applied.rows(rows, rows.stop - rows.start)]
        return loaded_stiffness(self.model, self.q[rows], wrenches, self.frame, progress)

    def matrices(self, rows: slice) -> Iterator[tuple[slice, Array, Array, Ints]]:
        """Where they stand, compliance and stiffness (6, 6, m) and status (m,) of some rows, to be used at once."""
        import numpy as np

        from elastocal.model.statics.stiffness import stiffness_chunks

        if self.loaded:
            solution = self.solved(rows)
            yield rows, np.moveaxis(solution.compliance, 0, -1), np.moveaxis(solution.stiffness, 0, -1), solution.status
            return
        for part, soft, stiff, status in stiffness_chunks(self.model, self.q[rows], self.frame):
            yield slice(rows.start + part.start, rows.start + part.stop), soft, stiff, status

    def mapped(self, diagonals: bool, progress: Progress | None) -> tuple[Array, Ints, Array | None]:
        """What is softest and the status (N,), and the diagonals (12, N) if they are wanted."""
        import numpy as np

        from elastocal.model.statics.stiffness import softest_of

        count = len(self.q)
        smallest, status = np.empty(count), cast("Ints", np.empty(count, dtype=np.int8))
        kept = np.empty((12, count)) if diagonals else None
        for first in range(0, count, PIECE):
            for rows, soft, stiff, state in self.matrices(slice(first, min(first + PIECE, count))):
                smallest[rows], status[rows] = softest_of(soft), state
                if kept is not None:
                    kept[:6, rows], kept[6:, rows] = np.einsum("iin->in", stiff), np.einsum("iin->in", soft)
            if progress is not None:
                progress(min(first + PIECE, count), count)
        return smallest, status, kept
