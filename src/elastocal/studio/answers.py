"""What the REST interface answers, for its OpenAPI description: programs are generated from it.

Numbers are SI; what is not known is null.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, Field

Point = Annotated[list[float | None], Field(min_length=3, max_length=3, description="x, y, z in m")]
Made = Annotated[dict[str, str], Field(description="versions that the answer was made with")]


class Said(BaseModel):
    """A warning: ``code`` is for programs, ``text`` for people."""

    code: str
    severity: str
    text: str
    data: dict[str, Any]


class Release(BaseModel):
    """The calibration to use: its number ``of``, a name, and the day when it must be renewed."""

    of: int
    name: str
    due: str | None
    baseline: bool


class RobotInShort(BaseModel):
    """Times in UTC; ``alarms`` is what was said with the last entry."""

    robot: str
    entries: int
    calibrated: str | None
    checked: str | None
    released: Release | None
    alarms: list[Said]


class Robots(BaseModel):
    """Every robot of the store."""

    made_by: Made
    robots: list[RobotInShort]


class Chart(BaseModel):
    """Values at entries ``numbers`` with their moving average; outside of +-``band`` is an alarm."""

    chart: str
    unit: str
    numbers: list[int]
    values: list[float | None]
    average: list[float | None]
    band: list[float | None]


class Drift(BaseModel):
    """At most one false alarm in ``run_length`` records."""

    run_length: float
    limit: float
    charts: list[Chart]
    alarms: list[Said]


class Entries(BaseModel):
    """``entries`` as they were recorded (format elastocal-history/1), of ``count`` in all."""

    made_by: Made
    robot: str
    joints: list[str]
    count: int
    entries: list[dict[str, Any]]
    drift: Drift


class Predicted(BaseModel):
    """Lists over poses, of points over ``markers``; half widths of 95 % intervals, deflection by the load alone."""

    made_by: Made
    robot: str
    markers: list[str]
    position: list[list[Point]]
    half_width: list[list[Point]]
    orientation: Annotated[list[list[Point]], Field(description="rotation matrix of the tool, by rows")]
    deflection: list[list[Point]]
    deflection_half_width: list[list[Point]]
    warnings: list[Said]


class Corrected(BaseModel):
    """Corrected ``files`` by name; ``targets`` with line, status, errors before and after."""

    made_by: Made
    robot: str
    files: dict[str, str]
    targets: list[dict[str, Any]]
    verdict: list[Any]
    warnings: list[Any]


class Problem(BaseModel):
    """One sentence: what is wrong and what to do; ``code`` is its word for programs.

    ``detail`` is there where a value of the request is of no use.
    """

    error: str
    code: str | None = None
    detail: list[dict[str, Any]] | None = None


def answered(kind: type[BaseModel] | str) -> dict[int | str, dict[str, Any]]:
    """Answers of a route: its own, and what is said of a wrong request, a missing token and an unknown robot."""
    whole: dict[str, Any] = {"content": {kind: {}}} if isinstance(kind, str) else {"model": kind}
    words = {403: "the token is missing or wrong", 404: "there is no such robot", 422: "the request is of no use"}
    plain: dict[int | str, dict[str, Any]] = {c: {"model": Problem, "description": w} for c, w in words.items()}
    plain[403] = {"description": words[403], "content": {"text/plain": {}}}
    return {200: whole, **plain}
