"""The declaration of a command: one function, from which command line, cell roles and documentation are made.

A file of ``app/commands`` holds one function that bears the name of the command::

    @command("daily", 6, Uses({"calibration": "calibration"}), csv=True)
    def predict(calibration: Annotated[Path, typer.Argument(...)], at: o.At = None, ...) -> PredictResult:
        \"\"\"Deflection by a calibrated model, with its accuracy. ...\"\"\"

Its parameters are the arguments and options, its docstring the help.  It reads, calls the library and returns a value;
from Python it is called as it stands.  On the command line ``on_command_line`` adds ``--report``, ``--standalone``,
``--csv``, ``--full`` and ``--json``, refuses targets that must not be written, shows progress, and hands the value to
``app/pages``: there ``page(result)`` is the report, ``screen(result)`` another one for the terminal,
``table(result)`` what ``--csv`` writes, ``data(result)`` what ``--json`` prints where that is not the report itself.
Of the value three attributes count, where it has them: ``files`` to write (contents by path), ``html`` where a report
goes that nobody has named a place for, and ``failed``, which ends the program with 1.
A function that takes ``json`` itself shows its own result.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from functools import cache, cached_property
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from pkgutil import iter_modules
from types import SimpleNamespace
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, get_args, get_origin, get_type_hints

import typer

from elastocal.app import commands
from elastocal.app.cells.roles import USES, Uses
from elastocal.app.cli import options as o
from elastocal.values import dataclass

if TYPE_CHECKING:
    from elastocal.files.campaign.file import CampaignFile

Group = Literal["daily", "procedures", "robots", "published"]
GROUPS: dict[Group, str] = {
    "daily": "Daily commands",
    "procedures": "Procedures",
    "robots": "Robots: files, statics",
    "published": "Published cases and demonstration",
}
Function = TypeVar("Function", bound=Callable[..., Any])
Targets = Mapping[str, Path | None]
_ROBOTS = ("robot", "truth", "source")
_targets: ContextVar[Targets | None] = ContextVar("targets", default=None)


@dataclass(frozen=True)
class Command:
    """What is declared of a command; ``place`` is its place in the group's help, ``progress`` names its work."""

    function: Callable[..., Any]
    group: Group
    place: int
    cell: Uses
    report: bool
    csv: bool
    progress: str

    @property
    def name(self) -> str:
        return self.function.__name__

    @cached_property
    def hints(self) -> dict[str, Any]:
        """Annotations of the parameters that are typed, as they were declared."""
        typed = {p: h for p, h in self.function.__annotations__.items() if p not in ("progress", "live", "return")}
        named = SimpleNamespace(__annotations__=typed)
        return get_type_hints(named, self.function.__globals__, include_extras=True)


COMMANDS: dict[str, Command] = {}
"""By name, as their modules are imported."""


@cache
def command_names() -> frozenset[str]:
    """Of all commands, by their files: none is imported."""
    return frozenset(module.name for module in iter_modules(commands.__path__))


def declared(only: str = "") -> tuple[Command, ...]:
    """Every command, in the order of the help; with a name that command alone, if there is one."""
    for name in sorted(command_names() & ({only} if only else command_names())):
        import_module(f"{commands.__name__}.{name}")
    order = tuple(GROUPS)
    chosen = (c for name, c in COMMANDS.items() if only in ("", name))
    return tuple(sorted(chosen, key=lambda c: (order.index(c.group), c.place, c.name)))


def command(
    group: Group, place: int, cell: Uses | None = None, *, report: bool = True, csv: bool = False, progress: str = ""
) -> Callable[[Function], Function]:
    """Declare the function that follows as the command of its name; the function itself stays as it is.

    ``progress`` may name parameters: "correcting {program.name}".
    """

    def declare(function: Function) -> Function:
        made = Command(function, group, place, cell or Uses({}), report, csv, progress)
        COMMANDS[made.name] = made
        if cell is not None:
            USES[made.name] = cell
        return function

    return declare


def writes(option: str) -> bool:
    """Whether the user has named a file for an option such as --csv, in the command that runs."""
    return (_targets.get() or {}).get(option) is not None


def protect(files: Targets) -> None:
    """Refuse what would be written over ``files``, to which the inputs of a command have led it."""
    from elastocal.files.write import check_targets

    check_targets(_targets.get() or {}, files)


def given_by(word: str, file: CampaignFile) -> dict[str, Path | None]:
    """The campaign file under ``word``, its robot and its tables, as ``keep`` wants them."""
    own, *others = file.files
    return {word: own, **{f"{word} as {other.name}": other for other in others}}


def on_command_line(declared: Command) -> Callable[..., None]:
    """The command as typer shall know it; one that shows its own result stays as it is."""
    if "json" in declared.hints:
        return declared.function
    own, kinds = inspect.signature(declared.function).parameters, declared.hints
    shared: dict[str, Any] = {"report": o.ReportFile, "standalone": o.Standalone} if declared.report else {}
    shared |= {"csv": o.CsvFile} if declared.csv else {}
    shared |= {"full": o.Full} if declared.report else {}
    parameters = [own[name].replace(annotation=hint) for name, hint in kinds.items()]
    for name, hint in (shared | {"json": o.Json}).items():
        if name not in kinds:
            default = False if name in ("json", "standalone", "full") else None
            parameters.append(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=hint))

    def run(**values: Any) -> None:
        _run(declared, values)

    run.__name__ = declared.name
    run.__doc__ = declared.function.__doc__
    run.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in parameters]
    )
    run.__annotations__ = {p.name: p.annotation for p in parameters}
    return run


def _run(declared: Command, values: Mapping[str, Any]) -> None:
    from elastocal.app.cli.output import deliver
    from elastocal.files.typed import check_count
    from elastocal.files.write import check_targets, make_folder

    for name, value in values.items():
        check_count(name, value)
    targets, inputs = _written(declared, values), _read(declared, values)
    check_targets(targets, inputs)
    token = _targets.set(targets)
    try:
        result = _result(declared, values)
    finally:
        _targets.reset(token)
    files = getattr(result, "files", {})
    for place in files:
        if place not in targets.values():
            make_folder(place.parent)
            check_targets({"--out": place, **targets}, inputs)
    pages = import_module(_pages(declared.name))
    csv = (values["csv"], pages.table(result)) if values.get("csv") is not None else None
    data = pages.data(result) if hasattr(pages, "data") else None
    page = pages.page(result)
    short = pages.screen(result, page) if hasattr(pages, "screen") and not values["json"] else None
    whole = not declared.report and short is None
    html, full = values.get("report") or getattr(result, "html", None), values.get("full", whole)
    deliver(page, values["json"], html, csv, short, data, files, values.get("standalone", False), full)
    kept = any(fill.parameter == "out" for fill in declared.cell.fills)
    if kept and not (values["json"] or files or html or csv):
        print(_unwritten(declared.hints["out"]))
    if getattr(result, "failed", False):
        raise typer.Exit(1)


def _unwritten(out: Any) -> str:
    """That nothing was kept of what a cell would keep, and by which option it would be."""
    option = get_args(out)[1]
    return f"No file is written; --out {option.metavar}: {option.help[:1].lower()}{option.help[1:]}"


def _result(declared: Command, values: Mapping[str, Any]) -> Any:
    from elastocal.app.cli.progress import live, progress

    words = {name: values[name] for name in declared.hints}
    own = inspect.signature(declared.function).parameters
    if "live" in own:
        return declared.function(**words, live=live)
    with progress(declared.progress.format(**words) or declared.name, reported="progress" in own) as callback:
        return declared.function(**words, **({"progress": callback} if "progress" in own else {}))


def _pages(name: str) -> str:
    """The module that shows results: ``pages/NAME.py``, ``pages/NAME/page.py``, for short ones that of the command."""
    module = f"elastocal.app.pages.{name}"
    spec = find_spec(module)
    if spec is None:
        return f"elastocal.app.commands.{name}"
    return f"{module}.page" if spec.submodule_search_locations is not None else module


def _written(declared: Command, values: Mapping[str, Any]) -> dict[str, Path | None]:
    """Files that the user has named to be written, under the name that the user gave them."""
    marked = {label(p, h): values[p] for p, h in declared.hints.items() if o.WRITTEN in getattr(h, "__metadata__", ())}
    return marked | {f"--{name}": values.get(name) for name in ("report", "csv")}


def _read(declared: Command, values: Mapping[str, Any]) -> dict[str, Path | None]:
    """Files that the user has named to be read, and that must stay."""
    from elastocal.files.robot.read import robot_file

    files: dict[str, Path | None] = {}
    for p, hint in declared.hints.items():
        marks = getattr(hint, "__metadata__", ())
        listed = values[p] if isinstance(values[p], list | tuple) else [values[p]]
        for value in listed:
            name = label(p, hint) if len(listed) == 1 else f"{label(p, hint)} {value}"
            if isinstance(value, Path) and not {o.WRITTEN, o.FOLDER, o.REPLACED} & set(marks):
                files[name] = value
            elif isinstance(value, str) and p in _ROBOTS:
                files[name] = robot_file(value)
    return files


def label(parameter: str, hint: Any) -> str:
    """A parameter as the user knows it: PLAN.yaml, or --out."""
    info = get_args(hint)[1] if get_origin(hint) is Annotated else None
    if isinstance(info, typer.models.ArgumentInfo):
        return str(info.metavar or parameter.upper()).strip("[].")
    named = (getattr(info, "default", None), *(getattr(info, "param_decls", None) or ()))
    words = [w for w in named if isinstance(w, str) and w.startswith("--")]
    return words[0] if words else f"--{parameter.replace('_', '-')}"


def example(command: Any) -> str:
    """The first example in the help of a command, as the end of a sentence."""
    _, _, shown = str(command.help or "").partition("Example:")
    return f"; for example: {shown.strip().splitlines()[0].strip()}" if shown else ""
