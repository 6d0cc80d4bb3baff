"""A rectangle of configurations over two controller axes, with stiffness and deflection over it.

The two axes are by default those that change the stiffness most.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

from elastocal.app.configurations import Configurations, axes_of, numbers, of_shown, typed, within_limits
from elastocal.errors import FormatError, InputError, RangeError, UnknownNameError
from elastocal.model.statics.stiffness import softest
from elastocal.values import dataclass

if TYPE_CHECKING:
    from elastocal.model.loads.wrench import AppliedWrenches
    from elastocal.model.places import Reached
    from elastocal.model.robot import Robot
    from elastocal.model.statics.deflection import FrameDeflection
    from elastocal.spatial.entries import Array, Bools


MOST_POINTS = 10_000_000
PIECE = 100_000
"""Points that are looked at together."""
FORM = "axis:from:to:count,axis:from:to:count, for example A2:-130:-20:12,A3:-90:120:12"


@dataclass(frozen=True, eq=False)
class Grid:
    """``at`` runs through y (second axis) row by row; ``reached`` (N,) is False beyond the joint limits."""

    names: tuple[str, str]
    units: tuple[str, str]
    x: Array
    y: Array
    at: Configurations
    reached: Bools
    places: Reached | None = None
    """Of a map over a workpiece, else None; ``near`` (n,) is where the arm is drawn."""
    near: Array | None = None

    def table(self, values: Array) -> tuple[tuple[float, ...], ...]:
        """Values per configuration as rows of the map, nan where not reached."""
        import numpy as np

        grid = np.where(self.reached, values, np.nan).reshape(len(self.y), len(self.x))
        return tuple(tuple(float(v) for v in row) for row in grid)


@dataclass(frozen=True, eq=False)
class _Rectangle:
    """Values (N, n) of all axes over the map, made when they are asked for: as shown, or those of a model's joints."""

    start: Array
    axes: tuple[int, int]
    x: Array
    y: Array
    joints_of: Robot | None = None

    def __len__(self) -> int:
        return len(self.x) * len(self.y)

    def __getitem__(self, which: int | slice | Array) -> Array:
        import numpy as np

        at = np.arange(*which.indices(len(self))) if isinstance(which, slice) else np.atleast_1d(which)
        out = np.repeat(self.start[None], len(at), axis=0)
        for axis, values in zip(self.axes, (self.x[at % len(self.x)], self.y[at // len(self.x)]), strict=True):
            out[:, axis] = values
        if self.joints_of is not None:
            out = self.joints_of.controller.to_joints(out * axes_of(self.joints_of).factors)
        return np.asarray(out if isinstance(which, slice) or np.ndim(which) else out[0])

    def __array__(self, dtype: object = None, copy: bool | None = None) -> Array:
        return self[:]


def grid_configurations(model: Robot, text: str, at: tuple[str, ...], ignore_limits: bool) -> Grid:
    """The map "A2:-130:-20:12,A3:-90:120:12"; the other axes from ``at``, else as near to zero as the limits allow."""
    axes = axes_of(model)
    spans = [_span(model, part) for part in text.split(",")]
    if len(spans) != 2 or spans[0][0] == spans[1][0]:
        raise RangeError.of("map", text, f"two different axes are needed; write {FORM}")
    (i, x), (j, y) = spans
    if len(x) * len(y) > MOST_POINTS:
        raise RangeError.of("map", text, f"{len(x) * len(y)} points are too many; at most {MOST_POINTS}")
    start, note = _start(model, at)
    shown = _Rectangle(start, (i, j), x, y)
    others = [f"{axes.names[k]} {start[k]:g} {axes.units[k]}" for k in range(model.n) if k not in (i, j)]
    configurations = Configurations(
        axes, cast("Array", shown), cast("Array", replace(shown, joints_of=model)), (f"--map {text!r}",),
        notes=_notes(note, others),
    )  # fmt: skip
    configurations, reached = _reached(model, configurations, ignore_limits)
    return Grid((axes.names[i], axes.names[j]), (axes.units[i], axes.units[j]), x, y, configurations, reached)


def place_grid(model: Robot, text: str, at: tuple[str, ...], object_: str | None, frame: str) -> Grid:
    """The map "x:1600:2100:15,y:-150:150:11,z:800" over places of a workpiece, the tool held as at ``at``."""
    import numpy as np

    from elastocal.app.configurations import typed_places
    from elastocal.model.places import reach

    start = of_shown(model, _start(model, at)[0][None], ("",)).q[0]
    plane, near = typed_places(model, text, at, object_)
    assert plane is not None
    reached = reach(model, frame, plane, start if near is None else near)
    if not reached.reached.any():
        message = (
            f"--map {text!r}: no place is reached with the tool held as at --at; give other places or another --at"
        )
        raise InputError(message, code="not-reached", parameter="map")
    q = np.where(reached.reached[:, None], reached.q, start)
    shown = model.controller.to_controller(q) / axes_of(model).factors
    lost = int((~reached.reached).sum())
    height = f"{'xyz'[plane.normal]} = {1e3 * plane.height:g} mm"
    note = f"The tool is held as at --at, {height}" + (f"; {lost} of {len(q)} places are not reached." if lost else ".")
    made = replace(of_shown(model, shown, (f"--map {text!r}",) * len(shown)), notes=(note,))
    names = ("xyz"[plane.axes[0]], "xyz"[plane.axes[1]])
    return Grid(
        names, ("mm", "mm"), 1e3 * plane.values[0], 1e3 * plane.values[1], made, reached.reached, reached, start
    )


def _notes(note: str, others: list[str]) -> tuple[str, ...]:
    return (f"The other axes stand at {', '.join(others)}{note}.",) if others else ()


def _span(model: Robot, part: str) -> tuple[int, Array]:
    import numpy as np

    axes = axes_of(model)
    pieces = [p.strip() for p in part.split(":")]
    if len(pieces) != 4:
        raise FormatError.of("map", part, f"not of the form {FORM}")
    if pieces[0] not in axes.names:
        raise UnknownNameError("controller axis", pieces[0], axes.names, "--map")
    low, high = numbers(" ".join(pieces[1:3]), 2, f"--map {part!r}", "from, to")
    if not pieces[3].isdecimal() or not 2 <= int(pieces[3]) <= MOST_POINTS:
        raise RangeError.of("map", part, f"the count {pieces[3]!r} must be a whole number of at least 2")
    values = np.linspace(low, high, int(pieces[3]))
    if not np.diff(values).all():
        raise RangeError.of("map", part, "from and to are the same; give a range")
    return axes.names.index(pieces[0]), values


def _start(model: Robot, at: tuple[str, ...]) -> tuple[Array, str]:
    """Where the axes outside the map stand, and words for it where nobody said."""
    import numpy as np

    if at:
        return typed(model, at).shown[0], ""
    q = model.controller.to_joints(np.zeros((1, model.n)))
    for k, motion in enumerate(model.motions):
        if motion.limits is not None:
            q[:, k] = np.clip(q[:, k], *motion.limits)
    shown = model.controller.to_controller(q)[0] / axes_of(model).factors
    return shown, " (zero, or the nearest limit; set them with --at)"


def _reached(model: Robot, configurations: Configurations, ignore: bool) -> tuple[Configurations, Bools]:
    """Limits of coupled joints cut a corner off the rectangle; any other joint beyond its limits is a mistake."""
    import numpy as np

    reached = np.ones(len(configurations), dtype=bool)
    coupled = {j for j, row in zip(model.joints, model.controller.matrix, strict=True) if np.count_nonzero(row) > 1}
    for first in range(0, len(configurations), PIECE):
        q = configurations.q[first : first + PIECE]
        beyond = model.beyond_limits(q)
        reached[[first + row for row, _, _ in beyond]] = False
        wrong = [row for row, joint, _ in beyond if joint not in coupled]
        if wrong and not ignore:
            within_limits(model, replace(configurations, q=q[wrong[:1]]), False)
    cut = int((~reached).sum())
    if not cut:
        return configurations, reached
    if ignore:
        message = f"{cut} of {len(configurations)} configurations lie beyond the joint limits"
        note = f"{message} and are computed all the same (--ignore-limits)."
        return replace(configurations, notes=(*configurations.notes, note)), np.ones(len(configurations), dtype=bool)
    if cut == len(configurations):
        within_limits(model, replace(configurations, q=configurations.q[:1]), False)
    note = f"{cut} of {len(configurations)} points lie beyond the limits of coupled joints and are left empty."
    return replace(configurations, notes=(*configurations.notes, note)), reached


POINTS = 25
"""Of each axis of a map."""


@dataclass(frozen=True, eq=False)
class Workspace:
    """``smallest`` (N,) is the stiffness in the softest direction, N/m, under weights and springs alone;
    ``moved`` the deflection that ``load`` adds."""

    grid: Grid
    smallest: Array
    load: AppliedWrenches
    moved: FrameDeflection


def workspace(model: Robot, grid: Grid, load: AppliedWrenches) -> Workspace:
    """Both maps of a model under one load."""
    from elastocal.model.statics.deflection import deflection
    from elastocal.model.statics.stiffness import loaded_stiffness

    q = grid.at.q
    return Workspace(grid, softest(loaded_stiffness(model, q)), load, deflection(model, q, [load]))


def section(model: Robot, q: Array) -> Grid:
    """A grid over the whole range of two axes, the others where they are in the middle one of poses (N, n)."""
    import numpy as np

    from elastocal.model.statics.stiffness import stiffness_section

    lines = stiffness_section(model, q)
    middle, axes = lines.middle, axes_of(model)
    parts = []
    for k in lines.joints:
        ends = np.array([middle, middle])
        ends[:, k] = lines.low[k], lines.high[k]
        a, b = sorted(model.controller.to_controller(ends)[:, k] / axes.factors[k])
        parts.append(f"{axes.names[k]}:{np.ceil(100 * a) / 100:.2f}:{np.floor(100 * b) / 100:.2f}:{POINTS}")
    at = model.controller.to_controller(middle[None])[0] / axes.factors
    return grid_configurations(model, ",".join(parts), (",".join(f"{v:.2f}" for v in at),), False)
