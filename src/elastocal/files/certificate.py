"""What people must state for a certificate: the key ``certificate`` of cell.yaml, or keywords of the library."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from datetime import date as Day
from typing import Any, Literal

from elastocal.errors import RangeError, UnknownNameError, WrongTypeError
from elastocal.files import schema
from elastocal.files.located import Located
from elastocal.model.elements import quantity
from elastocal.values import dataclass

Statistic = Literal["mean", "rms", "p95", "max"]


@dataclass(frozen=True, kw_only=True)
class Stated:
    """Every field may be missing; a certificate then says "not stated".

    ``tolerance`` is the largest error allowed of ``statistic`` over the validation points.
    """

    tolerance: float | None = quantity("length", default=None)
    statistic: Statistic = "max"
    number: str | None = None
    customer: str | None = None
    place: str | None = None
    operator: str | None = None
    authorised_by: str | None = None
    date: Day | None = None
    issued: Day | None = None
    robot_make: str | None = None
    robot_type: str | None = None
    robot_serial: str | int | None = None
    robot_controller: str | None = None
    robot_software: str | None = None
    robot_mastered: Day | None = None
    accuracy_option: str | None = None
    instrument_type: str | None = None
    instrument_serial: str | int | None = None
    instrument_certificate: str | None = None
    instrument_due: Day | None = None
    target: str | None = None
    temperature_C: float | None = None
    warm_up: str | None = None
    payload: float | None = quantity("mass", default=None)
    payload_centre: str | None = None
    tool: str | None = None
    procedure: str | None = None
    traceability: str | None = None

    def __post_init__(self) -> None:
        if self.tolerance is not None and not self.tolerance > 0:
            raise RangeError(f"tolerance {self.tolerance:g} m must be positive", value=self.tolerance)
        if self.payload is not None and self.payload < 0:
            raise RangeError(f"payload {self.payload:g} kg must not be negative", value=self.payload)

    @property
    def asked_for(self) -> bool:
        """Whether anything is stated: somebody wants a certificate."""
        return self != Stated()

    @property
    def missing(self) -> tuple[str, ...]:
        """Keys to fill in."""
        return tuple(f.name + UNITS.get(f.name, "") for f in fields(self) if getattr(self, f.name) is None)


UNITS = {"tolerance": "_mm", "payload": "_kg"}
"""How keys of quantities are usually written."""


def read_stated(located: Located, data: Any) -> Stated:
    """Of a cell file, with the place of what is wrong."""
    return schema.construct(Stated, located, ("certificate",), {} if data is None else data, {})


def stated_of(values: Mapping[str, Any]) -> Stated:
    """Of keywords, in SI; dates as such or as text."""
    from pydantic import TypeAdapter, ValidationError

    known = [f.name for f in fields(Stated)]
    for name in values:
        if name not in known:
            raise UnknownNameError("field of a certificate", name, known)
    try:
        made: Stated = TypeAdapter(Stated).validate_python(dict(values))
    except ValidationError as error:
        first = error.errors()[0]
        name = str(first["loc"][0])
        message = f"certificate: {name} {values.get(name)!r}: {first['msg'].lower()}"
        raise WrongTypeError(message, value=values.get(name), parameter=name) from None
    return made
