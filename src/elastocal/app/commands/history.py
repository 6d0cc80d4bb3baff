"""Histories of robots: calibrations, checks and releases in time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from datetime import date as Day
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from elastocal.app.cli import options as o
from elastocal.app.cli.command import command
from elastocal.errors import InputError, NumberError, UnknownNameError
from elastocal.values import dataclass

if TYPE_CHECKING:
    from elastocal.app.commands.compare import CompareResult
    from elastocal.results import Finding
    from elastocal.store.entry import Entry
    from elastocal.store.history import History
    from elastocal.store.reader import RobotLine
    from elastocal.store.robot_history import RobotHistory

ACTIONS = {
    "list": "robots of the store",
    "show": "ROBOT [NUMBER]: its history, or one entry; --out writes its calibration, or a certificate",
    "import": "CELL|CALIBRATION.json ...: record calibrations",
    "check": "ROBOT CAMPAIGN.yaml|TABLE: record readings at check poses",
    "release": "ROBOT [NUMBER]: say which calibration is to be used (--name, --reason, --who, --due, --certificate)",
    "withdraw": "ROBOT NUMBER: say that an entry is wrong (--reason, --who)",
    "compare": "ROBOT NUMBER NUMBER ...: what has changed between calibrations",
    "due": "what must be renewed, soonest first",
    "verify": "whether anything was changed behind the back of the store",
}


@dataclass(frozen=True, eq=False)
class HistoryResult:
    """What an action has read or recorded; what is overdue or damaged ends the command with 1."""

    action: str
    store: str
    today: Day
    robots: tuple[RobotLine, ...] = ()
    robot: RobotHistory | None = None
    entries: tuple[Entry, ...] = ()
    compared: CompareResult | None = None
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()
    files: Mapping[Path, bytes] = field(default_factory=dict)

    @property
    def failed(self) -> bool:
        late = any(f.code == "overdue" for line in self.robots for f in line.findings(self.today))
        return bool(self.findings) or (self.action == "due" and late)


@command("daily", 14, csv=True)
def history(
    action: Annotated[str, o.argument("ACTION", "; ".join(f"{k} {v}" for k, v in ACTIONS.items()))] = ("list"),
    items: Annotated[list[str] | None, o.argument("[ITEM]...", "As the action says.")] = None,
    store: Annotated[
        str | None,
        o.option(
            "FILE.db|URL", "SQLite file, or postgresql://... (default: what ELASTOCAL_STORE says, else history.db)."
        ),
    ] = None,
    robot: Annotated[str | None, o.option("NAME", "Record under this name (default: that of the cell).")] = None,
    who: Annotated[str | None, o.option("NAME", "Who did it.")] = None,
    reason: Annotated[str | None, o.option("TEXT", "Why.")] = None,
    name: Annotated[str | None, o.option("NAME", "Of a release; no two of a robot share it.")] = None,
    due: Annotated[str | None, o.option("DAY", "When a release must be renewed: 2027-11-30.")] = None,
    baseline: Annotated[
        bool, o.flag("With this release charts of drift begin anew, as after a repair.", "--baseline")
    ] = False,
    certificate: Annotated[
        Path | None, o.option("CELL", "Issue a certificate with a release, with what cell.yaml of CELL states.")
    ] = None,
    validate: Annotated[
        Path | None, o.option("CAMPAIGN.yaml|TABLE", "Readings that a certificate decides on; they took no part.")
    ] = None,
    date: Annotated[str | None, o.option("TIME", "When it was measured: 2026-11-30 or 2026-11-30T14:05 (UTC).")] = None,
    temperature: Annotated[
        float | None, o.option("C", "In degrees Celsius (default: as read, or as the cell states).")
    ] = None,
    supersedes: Annotated[int | None, o.option("NUMBER", "The recorded calibration that was wrong.", min=1)] = None,
    refit: o.Refit = False,
    units: o.ColumnUnits = None,
    euler: o.Euler = None,
    run_length: Annotated[float, o.option("RECORDS", "Records of a robot between two false alarms of drift.")] = 370.0,
    out: Annotated[
        Path | None,
        o.option("FILE", "Write the calibration that is shown (.json), or a certificate (.pdf, .html)."),
        o.WRITTEN,
    ] = None,
) -> HistoryResult:
    """Every calibration of every robot in time: what changed, what drifts, what is released, what is due.

    Entries are added and never changed: what was wrong is superseded. The store is a SQLite file, or a PostgreSQL
    database that many write to (extra fleet). 'due' ends with 1 where something is overdue, 'verify' where something
    was changed.

    \b
    Example:
      elastocal history import mycell --reason "yearly"
      elastocal history release mycell --name 2026-11 --reason "after service" --who "M. Meier" --due 2027-11-30
      elastocal history show mycell --report history.html
    """
    typed = locals()
    from elastocal.store.history import history as opened

    if action not in ACTIONS:
        raise UnknownNameError("action", action, ACTIONS)
    words, run = list(items or ()), _RUN[action]
    given = {k: v for k, v in o.typed(history, typed).items() if k not in ("items", "action", "store", "run_length")}
    for option in given:
        if option not in run.options:
            raise InputError(f"--{option} has no meaning for '{action}'; leave it out", code="option", parameter=option)
    if not run.least <= len(words) <= run.most:
        raise InputError(f"{action} {ACTIONS[action]}; {len(words)} given", code="items", value=words)
    with opened(store, create=run.writes, run_length=run_length) as histories:
        if "date" in given:
            given["time"] = given.pop("date")
        result: HistoryResult = run.function(histories, words, given)
        return result


def _result(histories: History, action: str, **values: Any) -> HistoryResult:
    return HistoryResult(action, histories.label, Day.today(), **values)


def _list(histories: History, words: list[str], given: dict[str, Any]) -> HistoryResult:
    return _result(histories, "list", robots=histories.robots())


def _due(histories: History, words: list[str], given: dict[str, Any]) -> HistoryResult:
    lines = [r for r in histories.robots() if r.released is not None and r.released.release is not None]
    lines.sort(key=lambda r: (r.released.release.due or "9999", r.robot))  # type: ignore[union-attr]
    return _result(histories, "due", robots=tuple(lines))


def _show(histories: History, words: list[str], given: dict[str, Any]) -> HistoryResult:
    history = histories[words[0]]
    number = _number(words[1]) if len(words) > 1 else None
    entries = () if number is None else (history.entry(number),)
    out = given.get("out")
    if out is None:
        return _result(histories, "show", robot=history, entries=entries)
    kind = out.suffix.lower()
    own = histories.calibration_file(words[0], number) if kind == ".json" else (
        histories.certificate(words[0], number, kind))  # fmt: skip
    return _result(histories, "show", robot=history, entries=entries, files={out: own})


def _import(histories: History, words: list[str], given: dict[str, Any]) -> HistoryResult:
    if len(words) > 1 and {"robot", "supersedes"} & set(given):
        raise InputError("--robot and --supersedes are of one calibration; import one at a time", code="items")
    made, notes = [], []
    for word in words:
        if not given.get("robot") and Path(word).is_file():
            raise InputError(f"{word}: a file does not tell which robot it is of; add --robot NAME", code="no-robot",
                             file=word, parameter="robot")  # fmt: skip
        try:
            made.append(histories.import_cell(word, **given))
        except InputError as error:
            if error.code != "already":
                raise
            notes.append(f"{error}; nothing was added.")
    return _result(histories, "import", entries=tuple(made), notes=tuple(notes))


def _check(histories: History, words: list[str], given: dict[str, Any]) -> HistoryResult:
    return _result(histories, "check", entries=(histories.check(words[0], words[1], **_with_keys(given)),))


def _with_keys(given: dict[str, Any]) -> dict[str, Any]:
    """What was said of the columns of a table as keys of a campaign file."""
    from elastocal.app.predictor import typed_keys

    rest = {k: v for k, v in given.items() if k not in _COLUMNS}
    return {**rest, "keys": typed_keys(given.get("units"), None, given.get("euler"), False)}


def _release(histories: History, words: list[str], given: dict[str, Any]) -> HistoryResult:
    number = _number(words[1]) if len(words) > 1 else None
    options = {**dict.fromkeys(("name", "reason", "who"), ""), **_with_keys(given)}
    options["stated"], options["validation"] = (options.pop("certificate", None), options.pop("validate", None))
    if options["validation"] is not None and options["stated"] is None:
        raise InputError("--validate has no meaning without --certificate; add it", code="option",
                         parameter="validate")  # fmt: skip
    return _result(histories, "release", entries=(histories.release(words[0], number, **options),))


def _withdraw(histories: History, words: list[str], given: dict[str, Any]) -> HistoryResult:
    needed = {k: given.get(k, "") for k in ("reason", "who")}
    return _result(histories, "withdraw", entries=(histories.withdraw(words[0], _number(words[1]), **needed),))


def _compare(histories: History, words: list[str], given: dict[str, Any]) -> HistoryResult:
    from elastocal.app.commands.compare import CompareResult

    numbers = [_number(w) for w in words[1:]]
    comparison = histories.compare(words[0], *numbers)
    paths = tuple(Path(words[0]) / str(n) for n in numbers)
    robot = histories.calibration(words[0], numbers[0]).robot
    return _result(histories, "compare", compared=CompareResult(paths, robot, comparison))


def _verify(histories: History, words: list[str], given: dict[str, Any]) -> HistoryResult:
    return _result(histories, "verify", findings=histories.verify())


def _number(word: str) -> int:
    if not (word.isascii() and word.isdigit() and len(word) < 10):
        raise NumberError(f"{word!r} is no number of an entry; see 'elastocal history show ROBOT'",
                         value=word)  # fmt: skip
    return int(word)


@dataclass(frozen=True)
class _Run:
    """How many items an action takes, which options, and whether it may begin a store."""

    function: Any
    least: int = 0
    most: int = 0
    options: tuple[str, ...] = ()
    writes: bool = False


_MADE, _COLUMNS = ("who", "reason", "date"), ("units", "euler")
_RUN = {
    "list": _Run(_list),
    "show": _Run(_show, 1, 2, ("out",)),
    "import": _Run(_import, 1, 1000, (*_MADE, "robot", "temperature", "supersedes"), True),
    "check": _Run(_check, 2, 2, (*_MADE, "temperature", "refit", *_COLUMNS)),
    "release": _Run(_release, 1, 2, (*_MADE, "name", "due", "baseline", "certificate", "validate", "refit", *_COLUMNS)),
    "withdraw": _Run(_withdraw, 2, 2, ("who", "reason")),
    "compare": _Run(_compare, 3, 20),
    "due": _Run(_due),
    "verify": _Run(_verify),
}
