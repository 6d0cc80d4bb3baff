"""What was measured, as arrays: joint values, readings, loads, with the units in which they are given."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field
from functools import cached_property
from os import PathLike
from typing import Any

import numpy as np

from elastocal.arguments import check_type, order_of
from elastocal.calibration.given import (
    ANGLES,
    LENGTHS,
    Angle,
    Form,
    Length,
    column_table,
    controller_to_joints,
    factors,
    joint_table,
    label_column,
    point_table,
    priors_of,
    rotation_table,
    seconds,
    unit_factor,
    wrench_table,
)
from elastocal.errors import (
    DuplicateError,
    InputError,
    MissingError,
    NumberError,
    RangeError,
    ShapeError,
    UnknownNameError,
    UnsupportedError,
)
from elastocal.measure.sources.friction import Friction
from elastocal.measure.sources.instrument import ForceSensor, Reading
from elastocal.measure.sources.places import ObjectPlaces
from elastocal.measure.sources.source import ErrorSource
from elastocal.model.robot import Robot
from elastocal.results import Finding
from elastocal.spatial.entries import Array, Bools, Ints
from elastocal.values import dataclass

READ = ("position", "deflection", "orientation", "distance")
"""What may be read of a row."""
BY_ROW = ("q", *READ, "wrench", "station", "temperature", "time")


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Campaign:
    """N readings of a robot.  Arrays or data frames in; everything is kept in SI but ``q``, whose unit needs the robot.

    ``q`` (N, n): controller values where the robot has a controller map, else joint values; revolute joints in
    ``angle``, prismatic ones in ``length``; columns of a data frame that have the names of the axes or joints count by
    name, others by place; so do points of a data frame whose columns are all named as axes (``x``, ``SMR1 x``,
    ``dz2``).  ``position`` (N, 3) or (N, markers, 3), nan where nothing was read; or
    ``deflection`` of the same shape (loaded minus unloaded, in base axes); ``orientation`` (N, 4) quaternions x y z w
    or (N, 3, 3), or rotation vectors (N, 3) in ``angle`` where ``orientation_form`` says so; ``distance`` (N,) or (N,
    markers) from a fixed point.  ``wrench`` (N, 6) in N and N m, applied to the robot, base axes, at ``load_frame``
    (the tool where not stated).  ``station`` (N,) names the instrument's
    place, ``temperature`` (N,) in K or degrees C, ``time`` (N,) in s, or dates, for figures and changes by row.
    ``noise``: sd of one coordinate of one reading in ``length`` (a deflection is the difference of two, and has sqrt(2)
    of it), or sources of error; a prior, not a command.  ``orientation_noise``: sd of an
    orientation about one axis, in rad.  ``priors`` of parameters by name:
    value and sd in SI, or, by several names, values and covariance.  ``places`` name the rows (file and line) in
    messages; those of ``keep`` are left out by no outlier test.
    """

    q: Any
    length: Length = None  # type: ignore[assignment]  # refused below with the words to add
    angle: Angle = None  # type: ignore[assignment]
    position: Any = None
    deflection: Any = None
    orientation: Any = None
    orientation_form: Form | None = None
    distance: Any = None
    wrench: Any = None
    load_frame: str | None = None
    station: Any = None
    temperature: Any = None
    time: Any = None
    markers: Sequence[str] = ()
    noise: float | ErrorSource | Sequence[ErrorSource] | None = None
    orientation_noise: float | None = None
    priors: Any = field(default_factory=dict)
    places: Sequence[str] = ()
    keep: Sequence[str] = ()
    name: str = ""
    notes: tuple[Finding, ...] = field(init=False, default=())
    """What was assumed or left out where the campaign was read from files; a calibration repeats it."""
    columns: tuple[str, ...] = field(init=False, default=())
    """Names of the columns of ``q``, where it is a data frame: joints by name, not by place."""
    named: bool = field(init=False, default=False)
    """Whether markers have names of their own: only then they are looked for among the frames of the robot."""

    def __post_init__(self) -> None:
        for key, hint in (("markers", Sequence[str]), ("keep", Sequence[str]), ("places", Iterable)):
            check_type(key, getattr(self, key), hint)
        check_type("name", self.name, str)
        check_type("noise", self.noise, float | ErrorSource | Sequence[ErrorSource] | None)
        check_type("orientation_noise", self.orientation_noise, float | None)
        if self.orientation_noise is not None and not self.orientation_noise > 0:
            raise RangeError.of(
                "orientation_noise", self.orientation_noise, "give a positive standard deviation in rad"
            )
        metre = unit_factor("length", self.length, LENGTHS)
        radian = unit_factor("angle", self.angle, ANGLES)
        q = joint_table(self.q)
        columns = tuple(getattr(self.q, "columns", ()))
        object.__setattr__(self, "columns", columns if all(isinstance(c, str) for c in columns) else ())
        count = len(q)
        given = {k: getattr(self, k) for k in READ}
        if all(v is None for v in given.values()):
            raise MissingError("nothing was read: give position, deflection, orientation or distance")
        values: dict[str, Any] = {"q": q, "priors": priors_of(self.priors), "notes": ()}
        for key in ("position", "deflection"):
            values[key] = None if given[key] is None else metre * point_table(key, given[key], count)
        if self.orientation is not None:
            values["orientation"] = rotation_table(self.orientation, count, self.orientation_form, radian)
            values["orientation_form"] = "matrix"
        values["distance"] = None if self.distance is None else metre * column_table("distance", self.distance, count)
        if values["distance"] is not None and np.any(values["distance"] < 0):
            row = int(np.argwhere(values["distance"] < 0)[0][0])
            raise RangeError(
                f"distance: {self.places[row] if len(self.places) == count else f'row {row}'} is negative; give "
                "lengths, or nan where nothing was read",
                parameter="distance", value=row,
            )  # fmt: skip
        values["wrench"] = None if self.wrench is None else wrench_table(self.wrench, count)
        for key in ("temperature", "time"):
            given = seconds(self.time) if key == "time" else self.temperature
            values[key] = None if given is None else column_table(key, given, count)[:, 0]
            if given is not None and not np.all(np.isfinite(values[key])):
                row = int(np.argwhere(~np.isfinite(values[key]))[0][0])
                raise NumberError(
                    f"{key}: row {row} is not a number; every reading needs one, or leave the column out",
                    parameter=key,
                    value=row,
                )
        values["station"] = label_column(self.station, count)
        sources = self.noise
        if isinstance(sources, int | float | np.number):
            if not sources > 0:
                raise RangeError(f"noise is {sources}; give a positive standard deviation, or leave it out")
            sources = float(sources) * metre
        elif isinstance(sources, ErrorSource):
            sources = (sources,)
        elif sources is not None:
            sources = tuple(sources)
        values["noise"] = sources
        for key, value in values.items():
            if isinstance(value, np.ndarray):
                value.flags.writeable = False
            object.__setattr__(self, key, value)
        if len(self.places) and len(self.places) != count:
            raise ShapeError(f"places has {len(self.places)} names, q has {count} rows; name one for each reading")
        object.__setattr__(self, "keep", (self.keep,) if isinstance(self.keep, str) else tuple(self.keep))
        lines = dict.fromkeys(self.line(i) for i in range(count)) if self.keep else {}
        for name in self.keep:
            if name not in lines:
                raise UnknownNameError("row to keep", name, lines)
        names = (self.markers,) if isinstance(self.markers, str) else tuple(self.markers)
        object.__setattr__(self, "named", bool(names))
        names = names or tuple(f"marker{i + 1}" for i in range(self.points))
        if len(names) != self.points:
            raise ShapeError(f"markers: {len(names)} names for {self.points} points; give one for each")
        if len(set(names)) < len(names):
            raise DuplicateError(f"markers: {', '.join(names)}: two have the same name; give every marker its own")
        object.__setattr__(self, "markers", names)
        _check_sources(self.noise, names)

    @property
    def count(self) -> int:
        return len(self.q)

    @cached_property
    def points(self) -> int:
        """Number of markers; 1 where only orientations were read."""
        sizes = {v.shape[1] for v in (self.position, self.deflection, self.distance) if v is not None}
        if len(sizes) > 1:
            raise ShapeError(f"position, deflection and distance have different numbers of markers: {sorted(sizes)}")
        return sizes.pop() if sizes else 1

    @cached_property
    def stations(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self.station.tolist()))

    @cached_property
    def station_index(self) -> Ints:
        order = {name: i for i, name in enumerate(self.stations)}
        names, inverse = np.unique(self.station, return_inverse=True)
        return np.asarray(np.array([order[s] for s in names.tolist()])[inverse.reshape(-1)])

    @property
    def loaded(self) -> bool:
        return self.wrench is not None and bool(np.any(self.wrench))

    @property
    def warms(self) -> bool:
        """Whether temperatures differ by enough for links to grow."""
        return self.temperature is not None and bool(np.ptp(self.temperature) > 0.5)

    def line(self, row: int) -> str:
        return self.places[row] if self.places else f"row {row}"

    def joint_values(self, robot: Robot, q: object = None) -> Array:
        """(N, n) joint values in rad and m, of this campaign or of other values in its units."""
        raw = self.ordered(robot).q if q is None else joint_table(q)
        return controller_to_joints(robot, raw, self.length, self.angle)

    def ordered(self, robot: Robot) -> Campaign:
        """With joint values in order of the robot, by the names of their columns where they have names."""
        order = order_of("q", self.columns, robot.controller.axes, robot.joints)
        return self if order is None else self.changed(q=self.q[:, order], columns=())

    def written_in(self, robot: Robot, length: str, angle: str) -> Campaign:
        """The same with ``q`` in other units."""
        own, other = factors(robot, self.length, self.angle), factors(robot, length, angle)
        same = self.ordered(robot)
        if (length, angle) == (self.length, self.angle):
            return same
        return same.changed(q=same.q * (own / other), length=length, angle=angle)

    def changed(self, **values: Any) -> Campaign:
        """The same with other values, in SI and checked already."""
        out = object.__new__(Campaign)
        for key, value in vars(self).items():
            if key in self.__dataclass_fields__:  # nothing that was worked out of the old ones
                object.__setattr__(out, key, values.get(key, value))
        return out

    def keeping(self, rows: Sequence[int]) -> Campaign:
        """The same, with rows that no outlier test leaves out."""
        return self.changed(keep=tuple(self.line(i) for i in rows))

    def kept(self, row: int) -> bool:
        return bool(self.keep) and self.line(row) in self.keep

    @property
    def kept_rows(self) -> Ints:
        """Rows that no outlier test leaves out."""
        return np.array([i for i in range(self.count) if self.kept(i)] if self.keep else (), dtype=np.int64)

    def take(self, rows: Sequence[int] | Ints | Bools) -> Campaign:
        """Some of the rows."""
        chosen = np.arange(self.count)[np.asarray(rows)]
        read = {key: getattr(self, key) for key in BY_ROW}
        some = {key: None if value is None else value[chosen] for key, value in read.items()}
        keep = tuple(self.line(i) for i in np.intersect1d(self.kept_rows, chosen).tolist())
        return self.changed(**some, places=Chosen(self.places, chosen), keep=keep)

    def __len__(self) -> int:
        return self.count

    def __repr__(self) -> str:
        kinds = [k for k in READ if getattr(self, k) is not None]
        parts = [f"{self.count} readings", " + ".join(kinds), f"{self.points} marker" + "s" * (self.points > 1)]
        if len(self.stations) > 1:
            parts.append(f"{len(self.stations)} stations")
        parts.append("loaded" if self.loaded else "no load")
        return f"<Campaign{' ' + self.name if self.name else ''}: {', '.join(parts)}>"


def _check_sources(noise: Any, markers: tuple[str, ...]) -> None:
    """Refuse errors of what no campaign of places reads, and those of a marker that is not there."""
    for source in () if noise is None or isinstance(noise, float) else noise:
        if isinstance(source, Friction | ForceSensor | ObjectPlaces):
            why = "is of torques or contacts, and a campaign reads positions, deflections, orientations or distances"
            raise UnsupportedError(f"noise: error source {source.kind} {why}", parameter="noise", value=source.kind)
        if isinstance(source, Reading) and source.marker is not None and source.marker not in markers:
            raise UnknownNameError("marker", source.marker, markers, "noise: error source reading", parameter="noise")


def check_campaign(given: object) -> None:
    """Refuse what is no campaign, such as the path of a table."""
    if not isinstance(given, Campaign):
        what = repr(str(given)) if isinstance(given, str | PathLike) else type(given).__name__
        raise InputError(
            f"a campaign is needed, not {what}; make one of arrays by ec.Campaign(q=..., position=..., ...), of files "
            "by robot, data = ec.read_campaign(path), or ec.read_campaign(robot, path) for a robot file and a table",
            code="no-campaign", parameter="campaign", value=type(given).__name__,
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Chosen(Sequence[str]):
    """Names of ``rows`` of a campaign whose rows have ``names``, or are called by their number."""

    names: Sequence[str]
    rows: Ints

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, row: Any) -> Any:
        if isinstance(row, slice):
            return tuple(self[i] for i in range(*row.indices(len(self))))
        return self.names[self.rows[row]] if self.names else f"row {self.rows[row]}"
