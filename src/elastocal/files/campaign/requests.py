"""What a campaign file states of its errors and asks for, in and out.

One entry of ``errors`` is one source of error; requests are parameters to seek and to hold, thresholds, the loss.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, get_type_hints

import numpy as np
import yaml

from elastocal.errors import InputError, MissingError, RangeError, UnsupportedError
from elastocal.files import schema
from elastocal.files.campaign.file import ReadingsEntry, Requests, listed
from elastocal.files.located import Located, Path_, check_once
from elastocal.files.robot.read import selected
from elastocal.files.schema import Units, chosen, dimensions_of
from elastocal.files.text import Dumper, FlowList, Map, quantity_text
from elastocal.files.units import Fields
from elastocal.measure.kind import Measurement
from elastocal.measure.markers import Deflection, Position
from elastocal.measure.measured import Measured
from elastocal.measure.sources.source import ErrorSource, source_kinds
from elastocal.model.descriptions import beyond_form, in_form
from elastocal.model.robot import Robot

Vector = tuple[float, float, float]


def read_sources(
    located: Located, entries: list[Any], units: Units, measurement: Measurement, model: Robot
) -> tuple[ErrorSource, ...]:
    """The sources, each asked whether it fits the measurement; what is one for the campaign must be given once."""
    sources = tuple(_source(located, ("errors", i), entry, units) for i, entry in enumerate(entries))
    common: list[tuple[Path_, str]] = []
    for i, source in enumerate(sources):
        path: Path_ = ("errors", i)
        try:
            unknowns = source.unknowns(measurement, model)
        except InputError as error:
            raise located.error(path, str(error).removeprefix(f"error source {source.kind}: "), error) from None
        common += [(path, u.name) for u in unknowns if source.common]
    check_once(located, common)
    return sources


def check_sources(located: Located, sources: Sequence[ErrorSource], kind: Measurement, model: Robot) -> None:
    """Every error moves what is read: what is of markers or loads does not fit contacts and torques."""
    for i, source in enumerate(sources):
        with located.at(("errors", i)):
            source.columns(kind, model)


def _source(located: Located, path: Path_, entry: Any, units: Units) -> ErrorSource:
    cls, data = chosen(located, path, "an error source", entry, source_kinds())
    fields = schema.read_fields(cls, located, path, data, units)
    _check_sizes(located, path, cls, fields)
    return schema.validated(cls, located, path, fields)


def _check_sizes(located: Located, path: Path_, cls: type, fields: Fields) -> None:
    """Sizes of errors are positive; three numbers and nothing else are a place, slopes may be zero."""
    hints = get_type_hints(cls)
    for name, value in fields.values.items():
        dimension = fields.dimensions[name]
        if dimension is None or hints[name] in (Vector, Vector | None) or value is None:
            continue
        where, written = (*path, fields.keys[name]), fields.raw[name]
        if dimension == "slope":
            if np.any(np.asarray(value) < 0):
                raise located.error(where, f"{written} must not be negative", RangeError)
        elif not np.all(np.asarray(value) > 0):
            raise located.error(where, f"{written} must be positive; leave the source out where it is zero", RangeError)


def read_requests(
    located: Located, entry: ReadingsEntry, model: Robot, campaign: Measured, plan: bool
) -> tuple[Requests, tuple[str, ...]]:
    """The requests, every name checked, and a note where there are fewer numbers than parameters."""
    upper, lower = entry.thresholds
    if not upper > lower > 0:
        raise located.error(
            ("thresholds",), f"[{upper:g}, {lower:g}]: the upper one stands first, both are positive", RangeError
        )
    described = in_form(model, entry.form or "beam")
    if entry.seek is not None and not listed(entry.seek):
        raise located.error(("seek",), "names nothing; name parameters, or leave the key out to seek all", MissingError)
    for key, words in (("seek", entry.seek), ("hold", entry.hold)):
        for i, word in enumerate(listed(words)):
            with located.at((key,) if isinstance(words, str) else (key, i)):
                selected(described, (word,))
    requests = Requests(
        None if entry.seek is None else listed(entry.seek), listed(entry.hold), entry.form, entry.thresholds,
        entry.loss, entry.reduce, entry.outliers, getattr(entry, "model", None),
    )  # fmt: skip
    with located.at(("seek",) if entry.seek else ("robot",)):
        from elastocal.reduction.identify import sought_names

        names = sought_names(campaign.measurement, described, requests.seek, requests.hold)
    if (
        not names
        and entry.seek is None
        and not entry.hold
        and isinstance(campaign.measurement, Position | Deflection)
        and (not plan or isinstance(campaign.measurement, Position))
    ):
        return requests, ()  # nothing to identify one by one; the best predictor needs no parameters of the file
    if not names and not entry.hold:
        raise located.error(
            ("robot",),
            f"{model.name} has no parameter to seek; give it elements, such as compliances",
            UnsupportedError,
        )
    if not names:
        raise located.error(("hold",), "nothing is left to seek; hold less", MissingError)
    numbers = int(campaign.measured.sum())
    odd = beyond_form(model, entry.form) if entry.form else ()
    notes = (f"Not of form {entry.form}, described as in the robot file: {', '.join(odd)}.",) if odd else ()
    if numbers >= len(names) or plan:
        return requests, notes
    return requests, (*notes, f"{numbers} numbers were read, fewer than the {len(names)} parameters sought.")


def campaign_yaml(
    head: Mapping[str, Any], campaign: Measured, beyond: bool, requests: Requests, more: Mapping[str, Any] | None = None
) -> str:
    """The text of a campaign file with this ``head``: what is missing in its table, or ``beyond`` limits, is said."""
    out = {**head, **({} if np.all(campaign.measured) else {"missing": "skip"})}
    out |= ({"limits": "ignore"} if beyond else {}) | changed_requests(requests) | dict(more or {})
    if campaign.sources:
        out["errors"] = [source_text(s) for s in campaign.sources]
    return yaml.dump(out, Dumper=Dumper, sort_keys=False, allow_unicode=True, width=110)


def changed_requests(requests: Requests) -> dict[str, Any]:
    """Whatever differs from what is done anyway."""
    plain, names = Requests(), {"statistical": "reduce"}
    values = {f.name: getattr(requests, f.name) for f in dataclasses.fields(requests)}
    changed = {names.get(k, k): v for k, v in values.items() if v != getattr(plain, k)}
    return {k: FlowList(v) if isinstance(v, tuple) else v for k, v in changed.items()}


def source_text(source: ErrorSource) -> Map:
    out = Map(kind=source.kind)
    dimensions = dimensions_of(type(source))
    for field in dataclasses.fields(source):  # type: ignore[arg-type]
        value, dimension = getattr(source, field.name), dimensions[field.name]
        if value is not None and value != field.default:
            out |= quantity_text(field.name, dimension, value) if dimension else {field.name: value}
    return out
