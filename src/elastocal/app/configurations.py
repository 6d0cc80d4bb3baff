"""Which configurations a command works on: typed or read from a file, always as the controller shows them; and places
of a workpiece, "x:1600:2100:15,y:-150:150:11,z:800" in mm of a work object.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from elastocal.errors import (
    ConflictError,
    DuplicateError,
    FormatError,
    InputError,
    MissingError,
    NumberError,
    RangeError,
    ShapeError,
)
from elastocal.model.limits import limit_text
from elastocal.untrusted import finite_number, why_no_number
from elastocal.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from elastocal.model.places import Plane
    from elastocal.model.robot import Robot
    from elastocal.spatial.entries import Array
    from elastocal.spatial.pose import Pose


@dataclass(frozen=True)
class Axes:
    """Names, joint kinds and units of the controller's axes, as users read them."""

    names: tuple[str, ...]
    kinds: tuple[str, ...]

    @property
    def units(self) -> tuple[str, ...]:
        return tuple("deg" if k == "revolute" else "mm" for k in self.kinds)

    @property
    def factors(self) -> Array:
        """User unit to SI, one per axis."""
        import numpy as np

        return np.array([np.pi / 180 if k == "revolute" else 1e-3 for k in self.kinds])


@dataclass(frozen=True, eq=False)
class Configurations:
    """``shown`` (N, n) in the controller's units, ``q`` (N, n) joint values in SI, where each came from."""

    axes: Axes
    shown: Array
    q: Array
    places: tuple[str, ...]
    names: tuple[str, ...] | None = None
    wrenches: Array | None = None
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.q)


def axes_of(model: Robot) -> Axes:
    return Axes(model.controller.axes, tuple(m.kind for m in model.motions))


def chosen_configurations(
    model: Robot, at: tuple[str, ...], file: Path | None, ignore_limits: bool, units: Mapping[str, str] | None = None
) -> Configurations:
    """From --at or --configurations, within the joint limits.

    With ``units`` (those of columns that do not tell theirs) the file may be a table of a campaign: readings in it and
    other columns are not used.
    """
    if at and file is not None:
        raise ConflictError("--at and --configurations both give configurations; keep one")
    if file is not None:
        configurations = _from_file(model, file, units)
    elif at or model.n == 0:
        configurations = typed(model, at)
    else:
        example = ",".join("0" for _ in range(model.n))
        names = ", ".join(model.controller.axes)
        raise MissingError(f'no configuration is given; add --at "{example}" ({names}) or --configurations FILE.csv')
    return within_limits(model, configurations, ignore_limits)


def typed(model: Robot, at: tuple[str, ...], option: str = "--at") -> Configurations:
    """From the texts of an option, one configuration each."""
    import numpy as np

    rows = [_typed_row(model, text, f"{option} {text!r}") for text in at] or [np.zeros(0)]
    shown = np.array(rows, dtype=np.float64).reshape(len(rows), model.n)
    return of_shown(model, shown, tuple(f"{option} {t!r}" for t in at) or ("",))


def _typed_row(model: Robot, text: str, where: str) -> Array:
    """Values (n,) as the controller shows them, from these or from "counts: ..." or "motor_deg: ..."."""
    import numpy as np

    from elastocal.files.tables.configurations import motors_to_axes

    axes = axes_of(model)
    word, colon, rest = text.partition(":")
    if not colon:
        what = ", ".join(f"{a} [{u}]" for a, u in zip(axes.names, axes.units, strict=True))
        return np.array(numbers(text, model.n, where, what))
    values = np.array(numbers(rest, model.n, where, f"{word.strip()} of {', '.join(axes.names)}"))
    kinds = (word.strip(),) * model.n
    return np.asarray(motors_to_axes(values[None], kinds, axes.names, model.controller.drives, where)[0] / axes.factors)


def of_shown(model: Robot, shown: Array, places: tuple[str, ...]) -> Configurations:
    axes = axes_of(model)
    return Configurations(axes, shown, model.controller.to_joints(shown * axes.factors), places)


def _from_file(model: Robot, file: Path, units: Mapping[str, str] | None) -> Configurations:
    """Of a table of configurations; with ``units`` of one of a campaign."""
    from elastocal.files.campaign.columns import configuration_columns
    from elastocal.files.tables.configurations import configurations, read_configurations
    from elastocal.files.tables.named import read_table

    axes, kinds, drives = axes_of(model), model.axis_kinds, model.controller.drives
    if units is None:
        table = read_configurations(file, kinds, drives)
        notes = table.notes
    else:
        raw = read_table(file)
        fields, notes = configuration_columns(raw, kinds, units)
        table = configurations(raw, fields, kinds, drives, model.gravity)
    places = tuple(f"{table.file}, line {line}" for line in table.lines)
    q = model.controller.to_joints(table.values)
    return Configurations(axes, table.values / axes.factors, q, places, table.names, table.wrenches, notes)


def within_limits(model: Robot, configurations: Configurations, ignore: bool) -> Configurations:
    """Refuse joint values beyond their limits, or say that they are used all the same."""
    beyond = model.beyond_limits(configurations.q)
    if not beyond:
        return configurations
    if ignore:
        rows = len({row for row, _, _ in beyond})
        message = f"{rows} of {len(configurations)} configurations lie beyond the joint limits"
        note = f"{message} and are computed all the same (--ignore-limits)."
        return replace(configurations, notes=(*configurations.notes, note))
    row, joint, value = beyond[0]
    raise RangeError(
        f"{configurations.places[row]}: {limit_text(model, joint, value)}; change it or add --ignore-limits"
    )


def typed_near(model: Robot, text: str | None) -> Array | None:
    """Controller values (n,) in SI of --near, within the joint limits."""
    import numpy as np

    if text is None:
        return None
    near = within_limits(model, typed(model, (text,), "--near"), False)
    return np.asarray(model.controller.to_controller(near.q)[0])


def numbers(text: str, count: int, what: str, names: str) -> tuple[float, ...]:
    """``count`` finite numbers from a text such as "0,-90,90"; between semicolons a decimal comma is allowed."""
    parts = text.replace(",", ".").split(";") if ";" in text else text.replace(",", " ").split()
    if len(parts) != count:
        raise ShapeError(f"{what}: {count} numbers are needed ({names or 'none'}), {len(parts)} were given")
    out = []
    for part in parts:
        value = finite_number(part)
        if value is None:
            raise NumberError(f"{what}: {part.strip()!r} {why_no_number(part.strip())}; give {names}")
        out.append(value)
    return tuple(out)


def positive_by_name(parameter: str, texts: Iterable[str], form: str) -> dict[str, float]:
    """Numbers above zero from ``NAME=NUMBER``, each name once; ``form`` is what to write."""
    out: dict[str, float] = {}
    for text in (t.strip() for t in texts):
        name, _, number = (part.strip() for part in text.partition("="))
        value = finite_number(number.replace(",", ".")) or 0.0
        if not name or not value > 0:
            raise FormatError.of(parameter, text, form)
        if name in out:
            raise DuplicateError.of(parameter, text, f"{name} has a number already; keep one")
        out[name] = value
    return out


PLACES_FORM = "x:from:to:count,y:from:to:count,z:at in mm, for example x:1600:2100:15,y:-150:150:11,z:800"
MOST_PLACES = 10_000
OF_CELL = "workpiece"
"""Stands for the plane that cell.yaml states."""


def is_cartesian(model: Robot, text: str) -> bool:
    """Whether a map is over x, y, z and not over axes of the controller."""
    first = text.partition(":")[0].strip()
    return text == OF_CELL or (first in ("x", "y", "z") and first not in axes_of(model).names)


def typed_places(
    model: Robot, text: str | None, at: tuple[str, ...], object_: str | None = None
) -> tuple[Plane | None, Array | None]:
    """The plane, and joint values with the tool held as on the workpiece; None for what was not typed."""
    near = typed(model, at).q[0] if at else None
    if len(at) > 1:
        raise ConflictError(f"a map takes one --at, {len(at)} were given", parameter="at")
    return (None if text is None else _plane(model, text, near, _object(object_))), near


def _plane(model: Robot, text: str, near: Array | None, base: Pose) -> Plane:
    import numpy as np

    from elastocal.model.kinematics import kinematics
    from elastocal.model.places import Plane

    if text == OF_CELL:
        return _of_cell()

    spans: dict[int, Array] = {}
    fixed: dict[int, float] = {}
    for part in text.split(","):
        name, *rest = (p.strip() for p in part.split(":"))
        if name not in ("x", "y", "z") or len(rest) not in (1, 3) or "xyz".index(name) in (*spans, *fixed):
            raise InputError(f"--map {text!r}: not of the form {PLACES_FORM}", code="form", parameter="map")
        if len(rest) == 1:
            fixed["xyz".index(name)] = 1e-3 * float(numbers(rest[0], 1, f"--map {part!r}", "at")[0])
            continue
        low, high = numbers(" ".join(rest[:2]), 2, f"--map {part!r}", "from, to")
        if not rest[2].isdecimal() or not 2 <= int(rest[2]) <= MOST_PLACES or not high > low:
            raise RangeError(f"--map {part!r}: give a range upwards and at least 2 points", parameter="map")
        spans["xyz".index(name)] = 1e-3 * np.linspace(low, high, int(rest[2]))
    if len(spans) != 2:
        raise InputError(
            f"--map {text!r}: two of x, y, z need a range; write {PLACES_FORM}", code="form", parameter="map"
        )
    first, second = sorted(spans)
    normal = 3 - first - second
    if normal not in fixed:
        if near is None:
            raise MissingError(f"--map {text!r}: add {'xyz'[normal]}:AT, or --at to take it from", parameter="map")
        tip = kinematics(model.nominal, near[None]).position[0]
        fixed[normal] = float(((tip - base.translation) @ base.rotation)[normal])
    return Plane((first, second), (spans[first], spans[second]), fixed[normal], base)


def _of_cell() -> Plane:
    from elastocal.app.cells.trace import current

    cell = current().cell
    if cell is None or cell.workpiece is None:
        message = "--map workpiece: is the key workpiece of a cell.yaml, and there is none"
        raise MissingError(f"{message}; add it, or write {PLACES_FORM}", parameter="map")
    return cell.workpiece.planes()[0]


def _object(text: str | None) -> Pose:
    """X,Y,Z in mm and A,B,C in deg about z, y, x in turn, in base; the base itself where nothing was typed."""
    import numpy as np

    from elastocal.spatial.pose import Pose
    from elastocal.spatial.rotation import Rotation

    if text is None:
        return Pose(np.eye(3), np.zeros(3))
    x, y, z, a, b, c = numbers(text, 6, f"--object {text!r}", "X, Y, Z, A, B, C")
    return Pose(Rotation.from_euler("ZYX", [a, b, c], degrees=True).as_matrix(), 1e-3 * np.array([x, y, z]))
