"""What a user gives: arrays in stated units, each refused by its name and row; and priors of parameters.

    priors={"A2.offset": (0.0, 2e-4)}                                value and sd
    priors={("A2.x", "A4.x"): ([0.0, 0.0], [[1e-8, 5e-9], [5e-9, 1e-8]])}  values and covariance

Of parameters whose unknown is a logarithm (compliances) the covariance is divided by their values.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import date
from typing import Any, Literal

import numpy as np

from elastocal.arguments import UNIT, by_name, check_type
from elastocal.errors import InputError, MissingError, NumberError, RangeError, ShapeError, UnitError
from elastocal.model.robot import Robot
from elastocal.spatial.entries import Array
from elastocal.values import dataclass

Length = Literal["m", "mm"]
Angle = Literal["rad", "deg"]
Form = Literal["quaternion", "matrix", "rotation_vector"]
LENGTHS: dict[str, float] = {"m": 1.0, "mm": 1e-3}
ANGLES: dict[str, float] = {"rad": 1.0, "deg": float(np.pi / 180)}
ROUNDED = 1e-3
"""What products of columns may be off by: four digits after the point are enough, three are not."""
_AXIS = re.compile(r"(?P<marker>.*?)[ ._]?d?(?P<axis>[xyzXYZ])[ _]?(?P<number>\d*)")
_COMPONENTS = tuple(tuple(w + a for w in words for a in axes) for words in ("fm", "FM") for axes in ("xyz", "XYZ"))
"""Names of the columns of a wrench, as people write them."""
LARGEST = 1e6
"""N or N m: the weight of 100 t."""


def controller_to_joints(robot: Robot, raw: Array, length: str, angle: str) -> Array:
    """(N, n) joint values in SI from controller values in stated units."""
    if raw.shape[1] != robot.n:
        raise ShapeError(
            f"q has {raw.shape[1]} columns, robot {robot.name} has {robot.n} joints from base to {robot.tool}: "
            f"{', '.join(robot.joints)}",
            parameter="q",
            value=raw.shape[1],
            allowed=(robot.n,),
        )
    return robot.controller.to_joints(raw * factors(robot, length, angle))


def factors(robot: Robot, length: str, angle: str) -> Array:
    """(n,) to rad and m, of values of the axes in stated units."""
    metre, radian = unit_factor("length", length, LENGTHS), unit_factor("angle", angle, ANGLES)
    return np.array([radian if m.kind == "revolute" else metre for m in robot.motions])


def joint_table(value: object) -> Array:
    """(N, n) finite numbers."""
    q = _table("q", value, 2)
    if not np.all(np.isfinite(q)):
        row, column = (int(v) for v in np.argwhere(~np.isfinite(q))[0])
        raise NumberError(
            f"q: row {row}, column {column} is {q[row, column]}; every reading needs all joint values",
            parameter="q",
            value=(row, column),
        )
    return q


def pose_table(value: object, robot: Robot) -> Array:
    """The same of a robot, columns by their names where a data frame has them; (n,) is one row."""
    q = _numbers("q", by_name("q", value, robot.controller.axes, robot.joints))
    return joint_table(q[None] if q.ndim == 1 else q)


def unit_factor(key: str, word: object, known: dict[str, float]) -> float:
    if word is None:
        other = "positions and prismatic joints" if key == "length" else "revolute joints"
        choice = " or ".join(f"{key}={w!r}" for w in known)
        raise UnitError(f"the unit of {other} is not stated; add {choice}", parameter=key)
    if not isinstance(word, str) or word not in known:
        raise RangeError(
            f"{key} is {word!r}; state the unit of the data: {' or '.join(map(repr, known))}",
            parameter=key,
            value=word,
            allowed=tuple(known),
        )
    return known[word]


def _numbers(key: str, value: object) -> Array:
    """Numbers as they are, nan where they are masked, or missing in a data frame."""
    kind = _kind(value)
    if isinstance(value, np.ma.MaskedArray) and kind not in ("b", "c"):
        value = np.ma.filled(value.astype(np.float64), np.nan)
    if kind in ("b", "c"):
        what = "True and False" if kind == "b" else "complex numbers"
        raise NumberError(f"{key} holds {what}; real numbers are needed", parameter=key, value=what)
    with suppress(TypeError, ValueError):  # what is wrong with it is said below
        value = value.to_numpy(dtype=np.float64, na_value=np.nan) if hasattr(value, "to_numpy") else value
    try:
        return np.array(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise NumberError(
            f"{key} does not hold numbers only: {error}; nan stands for not read", parameter=key
        ) from None


def _kind(value: object) -> str:
    """Letter of NumPy for what an array is of; none of lists that are no array."""
    try:
        return np.asarray(value).dtype.kind
    except (TypeError, ValueError):
        return ""


def _table(key: str, value: object, dimensions: int) -> Array:
    out = _numbers(key, value)
    if out.ndim != dimensions or not len(out):
        raise ShapeError(
            f"{key} has shape {out.shape}; one row for each reading is needed", parameter=key, value=out.shape
        )
    return out


def _rows(key: str, out: Array, count: int) -> Array:
    if not out.ndim:
        raise ShapeError(f"{key} is one number; one row for each reading is needed", parameter=key, value=out.item())
    if len(out) != count:
        raise ShapeError(f"{key} has {len(out)} rows, q has {count}; both need one row for each reading")
    if np.any(np.isinf(out)):
        raise NumberError(f"{key}: row {int(np.argwhere(np.isinf(out))[0][0])} is infinite; nan stands for not read")
    return out


def point_table(key: str, value: object, count: int) -> Array:
    """(N, markers, 3); columns of a data frame that are all named as axes count by name."""
    order = _order_of_axes(getattr(value, "columns", ()))
    out = _numbers(key, value)
    if order is not None and out.ndim == 2:
        out = out[:, order]
    if out.ndim == 2 and out.size and out.shape[1] % 3 == 0:
        out = out.reshape(len(out), -1, 3)
    if out.ndim != 3 or out.shape[2] != 3:
        raise ShapeError(f"{key} has shape {out.shape}; (N, 3) or (N, markers, 3) is needed")
    out = _rows(key, out, count)
    if not np.any(np.isfinite(out)):
        raise NumberError(f"{key}: nothing was read (all nan)")
    return out


def _order_of_axes(columns: Iterable[Any]) -> list[int] | None:
    """Places of columns such as ``x``, ``dx_mm``, ``x1``, ``SMR 1 X`` marker by marker, x, y, z of each."""
    known = [_AXIS.fullmatch(UNIT.sub("", str(c))) for c in columns]
    places: dict[tuple[str, str], dict[str, int]] = {}
    for i, found in enumerate(known):
        if found is None:
            return None
        own = places.setdefault((found["marker"], found["number"]), {})
        own[found["axis"].lower()] = i
    whole = 3 * len(places) == len(known) and all(len(own) == 3 for own in places.values())
    return [own[a] for own in places.values() for a in "xyz"] if known and whole else None


def column_table(key: str, value: object, count: int) -> Array:
    out = _numbers(key, value)
    return _rows(key, out[:, None] if out.ndim == 1 else out, count)


def seconds(value: Any) -> Any:
    """Dates with a time of day, as NumPy, Python or texts have them, and differences of them in s; else as it is."""
    kind = _kind(value)
    first = next(iter(np.asarray(value, dtype=object).ravel()), None) if kind in ("O", "U") else None
    if kind in ("M", "m") or isinstance(first, str | date | np.datetime64):
        with suppress(TypeError, ValueError):
            return np.asarray(value, dtype=np.float64) if isinstance(first, str) else _of_clock(value, kind)
        with suppress(TypeError, ValueError):
            return _of_clock(value, kind)
    return value


def _of_clock(value: Any, kind: str) -> Array:
    times = np.asarray(value, dtype="m8[us]" if kind == "m" else "M8[us]")
    return np.where(np.isnat(times), np.nan, 1e-6 * times.astype(np.int64))


def wrench_table(value: object, count: int) -> Array:
    """(N, 6) finite numbers, of one wrench for all rows too; columns of a data frame by their names."""
    out = _numbers("wrench", by_name("wrench", value, *_COMPONENTS))
    if out.shape == (6,):
        out = np.tile(out, (count, 1))
    if out.ndim != 2 or out.shape[1] != 6 or not np.all(np.isfinite(out)):
        raise ShapeError(
            f"wrench has shape {out.shape}; (N, 6) finite numbers are needed: fx fy fz mx my mz in N and N m",
            parameter="wrench",
            value=out.shape,
        )
    if np.abs(out).max(initial=0.0) > LARGEST:
        row = int(np.argmax(np.abs(out).max(axis=1)))
        raise RangeError(
            f"wrench: row {row} is {np.abs(out[row]).max():g}, more than any robot bears; give it in N and N m",
            parameter="wrench", value=row,
        )  # fmt: skip
    return _rows("wrench", out, count)


def label_column(value: object, count: int) -> Any:
    if value is None:
        return np.full(count, "1")
    try:
        raw = np.asarray(value, dtype=object).reshape(-1)
        out = np.asarray(value).reshape(-1).astype(str)
    except ValueError:
        raise ShapeError("station holds lists; name one for each reading", parameter="station") from None
    if len(out) != count:
        raise ShapeError(f"station has {len(out)} rows, q has {count}; name one for each reading")
    masked = np.ma.getmaskarray(value).reshape(-1) if isinstance(value, np.ma.MaskedArray) else np.zeros(count, bool)
    for row, name in enumerate(raw.tolist()):
        if masked[row] or name is None or str(name) in ("<NA>", "NaT") or name != name:  # nan is not itself
            raise MissingError(
                f"station: row {row} has no name; name one for each reading", parameter="station", value=row
            )
    return out


def rotation_table(value: object, count: int, form: Form | None, radian: float) -> Array:
    """(N, 3, 3) from quaternions x y z w, matrices or rotation vectors; nan rows were not read."""
    from scipy.spatial.transform import Rotation

    out = _rows("orientation", _numbers("orientation", value), count)
    shapes: dict[str, tuple[int, ...]] = {"quaternion": (4,), "matrix": (3, 3), "rotation_vector": (3,)}
    if form is not None and form not in shapes:
        raise RangeError(f"orientation_form is {form!r}; valid: {', '.join(shapes)}")
    if form is not None and out.shape[1:] != shapes[form]:
        raise ShapeError(f"orientation has shape {out.shape}; {form} needs (N, {', '.join(map(str, shapes[form]))})")
    known = np.all(np.isfinite(out).reshape(count, -1), axis=1)
    turns = np.full((count, 3, 3), np.nan)
    if form == "rotation_vector":
        turns[known] = Rotation.from_rotvec(radian * out[known]).as_matrix()
        return turns
    if out.shape == (count, 4):
        if np.any(np.abs(np.linalg.norm(out[known], axis=1) - 1) > 0.01):
            raise RangeError("orientation: a quaternion is not of length one; give x y z w (scalar last)")
        turns[known] = Rotation.from_quat(out[known]).as_matrix()
        return turns
    if out.shape == (count, 3, 3):
        whole = np.where(known[:, None, None], out, np.eye(3))
        off = np.abs(whole @ whole.transpose(0, 2, 1) - np.eye(3)).max(axis=(1, 2))
        left = np.linalg.det(whole) < 0
        if np.any(off > ROUNDED) or left.any():
            row = int(np.argmax(left)) if left.any() else int(np.argmax(off))
            how = (
                "not right-handed"
                if left.any()
                else f"{off[row]:.2g} away from orthonormal columns, more than {ROUNDED:g}"
            )
            raise RangeError(
                f"orientation: row {row}: the matrix is {how}; give four digits or more, or quaternions",
                parameter="orientation", value=row,
            )  # fmt: skip
        return out
    hint = "; of rotation vectors say so by orientation_form='rotation_vector'" if out.shape == (count, 3) else ""
    raise ShapeError(
        f"orientation has shape {out.shape}; (N, 4) quaternions x y z w or (N, 3, 3) matrices are needed{hint}",
        parameter="orientation_form" if hint else "orientation",
        value=out.shape,
    )


@dataclass(frozen=True, eq=False)
class Prior:
    """Values (k,) and covariance (k, k) in SI of parameters ``names``."""

    names: tuple[str, ...]
    values: Array
    covariance: Array

    def of(self, names: Iterable[str]) -> Prior:
        """The marginal of some of them."""
        keep = [self.names.index(n) for n in names]
        return Prior(tuple(self.names[i] for i in keep), self.values[keep], self.covariance[np.ix_(keep, keep)])


def priors_of(given: Mapping[Any, Any] | Iterable[Prior]) -> tuple[Prior, ...]:
    """As a user states them; every parameter once."""
    check_type("priors", given, Mapping | Sequence[Prior])
    out = tuple(given) if not isinstance(given, Mapping) else tuple(_prior(k, v) for k, v in given.items())
    seen: set[str] = set()
    for prior in out:
        for name in prior.names:
            if name in seen:
                raise InputError(f"prior of {name}: is stated twice; keep one", code="prior", value=name)
            seen.add(name)
    return out


def _prior(key: Any, value: Any) -> Prior:
    names = (key,) if isinstance(key, str) else tuple(key)
    try:
        values, spread = (np.array(v, dtype=np.float64) for v in value)
    except (TypeError, ValueError):
        raise MissingError(f"prior of {', '.join(names)}: give a value and a standard deviation") from None
    values = np.atleast_1d(values)
    if spread.ndim == 0:
        spread = np.diag(np.full(len(names), float(spread) * abs(float(spread))))  # keeps the sign of a slip
    if values.shape != (len(names),) or spread.shape != (len(names), len(names)):
        raise ShapeError(
            f"prior of {', '.join(names)}: values of shape {values.shape} and covariance of shape {spread.shape}; "
            f"give {len(names)} values and a covariance ({len(names)}, {len(names)})"
        )
    definite = np.isfinite(spread).all() and np.allclose(spread, spread.T) and np.linalg.eigvalsh(spread).min() > 0
    if not np.isfinite(values).all() or not definite:
        raise InputError(
            f"prior of {', '.join(names)}: value {values.tolist()} and sd or covariance {value[1]}; "
            "give finite values and a positive sd (or a positive definite covariance)",
            code="prior", value=names,
        )  # fmt: skip
    return Prior(names, values, spread)
