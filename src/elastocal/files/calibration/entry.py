"""The keys of a calibration file."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from elastocal.files.calibration.record import Status
from elastocal.measure.deflection import Statics
from elastocal.model.descriptions import Form


@dataclass(frozen=True, kw_only=True)
class CalibrationEntry:
    format: str
    created_by: str
    robot: dict[str, Any]
    statics: Statics
    load: dict[str, Any]
    noise: dict[str, Any]
    discrepancy_m: float | None
    discrepancy_reason: str
    warnings: tuple[str, ...] = ()
    seed: int | None = None
    inputs: dict[str, str] = field(default_factory=dict)
    parameters: list[Any]
    names: tuple[str, ...]
    covariance: list[list[float]]


@dataclass(frozen=True, kw_only=True)
class RobotEntry:
    word: str
    mark: str
    serial: str = ""
    tool: str
    without: tuple[str, ...] = ()
    form: Form


@dataclass(frozen=True, kw_only=True)
class LoadFrameEntry:
    frame: str
    follows: bool


@dataclass(frozen=True, kw_only=True)
class NoiseEntry:
    stated: bool
    scatter: float | None
    freedom: int
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class ParameterEntry:
    name: str
    unit: str
    value: float
    sd: float | None
    status: Status
    group: str = ""
    reason: str = ""
