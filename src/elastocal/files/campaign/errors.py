"""The list ``errors`` of a campaign file: one source of error per entry."""

from __future__ import annotations

from typing import Any, get_type_hints

import numpy as np

from elastocal.errors import InputError
from elastocal.files import schema
from elastocal.files.by_kind import chosen
from elastocal.files.keys import Fields
from elastocal.files.located import Located, Path_, check_once
from elastocal.files.schema import Units
from elastocal.measure.kind import Measurement
from elastocal.measure.sources.source import ErrorSource, source_kinds
from elastocal.model.robot import RobotModel

Vector = tuple[float, float, float]


def read_sources(
    located: Located, entries: list[Any], units: Units, measurement: Measurement, model: RobotModel
) -> tuple[ErrorSource, ...]:
    """The sources, each asked whether it fits the measurement; what is one for the campaign must be given once."""
    sources = tuple(_source(located, ("errors", i), entry, units) for i, entry in enumerate(entries))
    common: list[tuple[Path_, str]] = []
    for i, source in enumerate(sources):
        path: Path_ = ("errors", i)
        try:
            unknowns = source.unknowns(measurement, model)
        except InputError as error:
            raise located.error(path, str(error).removeprefix(f"error source {source.kind}: ")) from None
        common += [(path, u.name) for u in unknowns if source.common]
    check_once(located, common)
    return sources


def _source(located: Located, path: Path_, entry: Any, units: Units) -> ErrorSource:
    cls, data = chosen(located, path, "an error source", entry, source_kinds())
    fields = schema.read_fields(cls, located, path, data, units)
    source = schema.validated(cls, located, path, fields)
    _check_sizes(located, path, cls, fields)
    return source


def _check_sizes(located: Located, path: Path_, cls: type, fields: Fields) -> None:
    """Sizes of errors are positive; three numbers and nothing else are a place, slopes may be zero."""
    hints = get_type_hints(cls)
    for name, value in fields.values.items():
        dimension = fields.dimensions[name]
        if dimension is None or hints[name] == Vector or value is None:
            continue
        where, said = (*path, fields.keys[name]), fields.raw[name]
        if dimension == "slope":
            if np.any(np.asarray(value) < 0):
                raise located.error(where, f"{said} must not be negative")
        elif not np.all(np.asarray(value) > 0):
            raise located.error(where, f"{said} must be positive; leave the source out where it is zero")
