"""A cell to start from: a folder with a robot, a plan request, an example program, and places for the rest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from elastocal.app.cli import options as o
from elastocal.app.cli.command import command
from elastocal.errors import ConflictError, FileError, RangeError
from elastocal.report.blocks import Column, Paragraphs, Report, Section, Table
from elastocal.untrusted import shell_line
from elastocal.values import dataclass

if TYPE_CHECKING:
    from elastocal.app.starter.robot import Assumption
    from elastocal.model.robot import Robot


@dataclass(frozen=True)
class NewResult:
    """``contents`` are texts by place in the cell; ``assumptions`` all that they take for granted."""

    folder: Path
    name: str
    robot: str
    contents: dict[Path, str]
    notes: tuple[str, ...]
    assumptions: tuple[Assumption, ...] = ()


@command("daily", 1, report=False)
def new(
    cell: Annotated[Path, o.argument("CELL", "The folder to make; it must be empty or not exist."), o.FOLDER],
    robot: Annotated[
        str, o.option("ROBOT", "A shipped name or a part of it, a .yaml, .urdf or .xacro file, or a DH table.")
    ],
    rated_kg: Annotated[
        float | None, o.option("KG", "Rated payload: start values (default: by the reach), limits.")
    ] = None,
    language: Annotated[
        str | None,
        o.option("WORD", "Of its programs: krl, rapid, fanuc, jbi, urscript, apt, gcode, csv (default: by its name)."),
    ] = None,
    unloaded: Annotated[
        bool, o.flag("For a calibration without loads: geometry, own weight, gears by a tracker.", "--unloaded")
    ] = False,
) -> NewResult:
    """A folder for one robot in its cell, to keep in git.

    With the robot, a plan request, an example program, a table of all that is assumed, and a README. All other commands
    take the folder in place of a robot, plan, campaign, calibration or program.

    \b
    Example:
      elastocal new mycell --robot kr270
    """
    from elastocal.files.write import make_folder, write_files

    check_empty(cell)
    made = replace(cell_contents(cell.resolve().name, robot, rated_kg, language, unloaded), folder=cell)
    for place in {p.parent for p in made.contents}:
        make_folder(cell / place)
    write_files({cell / place: text for place, text in made.contents.items()})
    return made


def cell_contents(
    name: str, robot: str, rated_kg: float | None = None, language: str | None = None, unloaded: bool = False,
    tried: bool = True,
) -> NewResult:  # fmt: skip
    """What a cell of this name and robot starts with, and one to try it with where it is to be ``tried``; nothing is
    written."""
    from elastocal.app.starter.plan import plan_text, unloaded_text
    from elastocal.app.starter.program import square_program
    from elastocal.app.starter.robot import CAM, assumptions, assumptions_text, check_language, made_up_robot
    from elastocal.compensation.posts.post import language as own_language
    from elastocal.files.cell import NAME as CELL
    from elastocal.files.robot.write import robot_text

    if language is not None:
        check_language(language)
    if rated_kg is not None and not 0 < rated_kg < inf:
        raise RangeError.of(RATED, rated_kg, "give a positive mass in kg, such as 60")
    path = language if language in CAM else None
    model, notes, text = _robot(robot, rated_kg, None if path else language, unloaded)
    true = made_up_robot(model, unloaded) if tried else None
    program = square_program(model, path or "")
    shown = None if program is None else program.name
    note = OUT_OF_REACH if program is None else program.note
    notes = (*notes, note) if note else notes
    rated, source = _rated(robot, model, rated_kg)
    place = "../robot/robot.yaml"
    request = unloaded_text(model, name, place) if unloaded else plan_text(model, name, place, rated, source)
    if source and not unloaded:
        notes = (*notes, f"the rated payload is not known: loads stay within {rated:g} kg, {source} (--rated-kg)")
    force = "" if unloaded else _force(model, rated)
    taken = assumptions(model, text, request, notes, program, force, path)
    stated = {} if program is None else program.options
    stated = stated if rated is None or source else {**stated, RATED: f"{rated:g}"}
    files = {
        Path(CELL): cell_text(name, shown, force, stated, true is not None, None if own_language(model) else path),
        Path("README.md"): readme_text(name, model.title, shown, loaded=not unloaded),
        Path("ASSUMPTIONS.md"): assumptions_text(name, taken),
        Path(".gitignore"): IGNORED,
        Path(".gitattributes"): ATTRIBUTES,
        Path("robot/robot.yaml"): text,
        Path("plan/plan.yaml"): request,
        **{Path(folder) / KEPT: "" for folder in ("campaign", "calibration", "programs", "reports")},
    }
    if program is not None:
        files[Path("programs") / program.name] = program.text
    if true is not None:
        files[TRUTH] = robot_text(true, (f"MADE UP, to try {CELL} with: the robot that simulate takes for true.",))
    return NewResult(Path(), name, model.name, files, notes, taken)


def _robot(
    word: str, rated_kg: float | None, language: str | None, unloaded: bool
) -> tuple[Robot, tuple[str, ...], str]:
    """The robot, what its file left open, and the text of its file in the cell."""
    from elastocal.app.starter.robot import with_assumed_tool, with_controller
    from elastocal.files.located import read_text
    from elastocal.files.robot.read import read_robot, robot_file, robot_from_text, shipped_name, shipped_text

    robot, file = read_robot(word), robot_file(word)
    if language is not None and (file is None or file.suffix.lower() in (".yaml", ".yml")):
        raise ConflictError(
            f"{word}: is a robot file, which says the language itself (controller: language); leave it out",
            parameter="language",
        )
    if file is None:
        return robot, robot.notes, shipped_text(shipped_name(word))
    if file.suffix.lower() not in (".yaml", ".yml"):
        from elastocal.files.robot.write import robot_text

        spoken, controller_notes = with_controller(robot, language)
        model, notes = with_assumed_tool(spoken), (*robot.notes, *controller_notes)
        model = model if unloaded else model.with_joint_compliance(rated_kg)
        head = (f"Made from {file.name} by 'elastocal new'; the format is described in docs/robots.md.",)
        text = robot_text(model, (*head, *(f"Note: {note}." for note in notes)))
        return robot_from_text(text, "robot.yaml"), notes, text
    return robot, robot.notes, read_text(file)


def _rated(word: str, model: Robot, payload: float | None) -> tuple[float | None, str]:
    """The rated payload in kg, as told or as its maker states it; of a file that says nothing of it a careful guess
    and a remark."""
    from elastocal.compensation.run import flange_of
    from elastocal.files.robot.read import robot_file
    from elastocal.model.start_values import careful_payload

    payload = model.rated_payload if payload is None else payload
    if payload is not None or (file := robot_file(word)) is None:
        return payload, ""
    if file.suffix.lower() in (".yaml", ".yml") or not model.n:
        return None, ""
    return float(f"{careful_payload(model, flange_of(model)):.2g}"), UNRATED


def _force(model: Robot, rated: float | None) -> str:
    """A cutting force for the example: mostly sideways, some of it down."""
    from elastocal.app.starter.plan import starter_force

    size = starter_force(model, rated)
    return f"{-0.4 * size:g},0,{-0.2 * size:g}"


def check_empty(folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise FileError(f"{folder}: is a file; choose another name for the cell")
    if folder.is_dir() and any(folder.iterdir()):
        raise FileError(
            f"{folder}: is not empty, and nothing in it is written over; choose another name for the cell",
            code="not-empty",
            file=str(folder),
        )


RATED = "rated_kg"
UNRATED = "a guess by the reach, not a rating: state what the robot carries"
WITHOUT = (
    "Its compliances are guessed by its size, and its plan is under loads: for geometry, own weight and gears alone, "
    "by a tracker without loads, make it with --unloaded."
)
LOADED = """\
  # MADE UP for programs/{}, N on the tool in base axes: replace it by the force of your process,
  # or remove it and type --force, --loads or --milling."""
TRUTH = Path("truth/robot.yaml")
"""Robot that a new cell is tried with."""
OUT_OF_REACH = "no example program is written: no square is in reach that keeps off limits and singular poses"
KEPT = ".gitkeep"
"""Git keeps no empty folders: what lies in those that wait for something."""
IGNORED = """\
# written again beside any report that needs it
reports/plotly-*.min.js
# left behind by a program that was stopped while it wrote
.*.part
"""
ATTRIBUTES = """\
# results are known by the SHA-256 of their bytes: git must not change line ends
* -text
reports/** linguist-generated
"""


def cell_text(
    name: str, program: str | None, force: str, values: Mapping[str, str], simulated: bool, language: str | None = None
) -> str:
    """cell.yaml; ``force`` on the tool while the example ``program`` runs is made up, ``values`` what it leaves open.

    The robot that is ``simulated`` is made up too; ``language`` is of measuring programs
    """
    left = [key for key in values if key != RATED]
    pushed = {"force": f'"{force}"'} if force else {}
    words = ", ".join(f"{key}: {value}" for key, value in {**pushed, **values}.items())
    rest = "The rest is what" if force else "What"
    made_up = (
        *(LOADED.format(program).splitlines() if force else ()),
        *((f"  # {rest} such programs leave open: state it for yours (ASSUMPTIONS.md).",) if left else ()),
        f"  compensate: {{{words}}}",
    )
    true = (
        "  # MADE UP: the robot that simulate measures is not quite that of the file: there is something to find.",
        f"  simulate: {{truth: {TRUTH.as_posix()}}}",
    )
    spoken = () if language is None else (f"  plan: {{language: {language}}}   # of the measuring program",)
    options = (*(() if program is None or not words else made_up), *(true if simulated else ()), *spoken)
    options = ("options:", *options) if options else ()
    lines = (
        "format: elastocal-cell/1",
        f"name: {name}",
        "# Only what differs from the usual places is named here, such as",
        "#   campaign: campaign/january.yaml",
        "# and options of commands that shall not be typed every time (docs/cells.md).",
        "# What people state for the certificate ('elastocal status' asks for the rest, docs/reports.md), such as",
        "#   certificate: {tolerance_mm: 0.3, operator: A. Engineer, date: 2026-11-17, instrument_serial: 750123}",
        "# Where maps of stiffness and predicted error are drawn: a plane or a box in a work object, such as",
        "#   workpiece: {low_mm: [0, 0, 0], high_mm: [500, 300, 40], object_mm: [1600, -150, 800]}",
        *options,
    )
    return "\n".join(lines) + "\n"


def readme_text(name: str, title: str, program: str | None, *, loaded: bool = True) -> str:
    programs = f"`programs/{program}` is an example" if program else "put programs to correct into `programs/`"
    load = "is given by `--force`, `--loads` or `--milling`, or under `options` in `cell.yaml`"
    load += ", where a made-up force for the example stands: replace it" if program and loaded else ""
    how, chosen = ("under load", "poses and loads") if loaded else ("without loads", "poses")
    return f"""\
# {name}

Calibration of {title} {how}, with Elastocal.
All commands are typed in this folder, `.` being the cell; from elsewhere its path takes the place of the dot.

1. Look at `ASSUMPTIONS.md`: all that is taken for granted, and where to replace it; then at `robot/robot.yaml`
   and `plan/plan.yaml`: markers, loads, errors of your instruments, obstacles.
2. `elastocal plan .` chooses {chosen}: `plan/plan.csv` and `plan/campaign.yaml`, a program where its language
   is known; `reports/plan.html` says how good they are.
3. Measure: copy `plan/campaign.yaml` and `plan/plan.csv` to `campaign/` and fill the table.
   To try everything before: `elastocal simulate .` fills `campaign/` with virtual readings.
4. `elastocal calibrate .` writes `calibration/calibration.json` and `reports/calibrate.html`.
5. `elastocal compensate .` corrects all programs ({programs}) into `programs/corrected/`.
   The load on the tool {load}.

`elastocal status .` says what is up to date, what has changed since, and what to do next.

| folder | holds | made by |
|---|---|---|
| `robot/` | the robot | you |
| `plan/` | `plan.yaml`: what is wanted; the rest: what to measure | you; `plan` |
| `truth/` | a made-up robot for `simulate`; not needed once you measure | `new` |
| `campaign/` | readings | you, or `simulate` |
| `calibration/` | what was found | `calibrate` |
| `programs/` | programs, and in `corrected/` the corrected ones | you; `compensate` |
| `reports/` | per command an HTML file for people and the same as JSON | all |
| `records/` | what made every result: inputs and outputs by SHA-256, versions, seed, time | all |

Keep all of it in git. Results hold no time: the same inputs give the same bytes.
"""


TRY = "To try it"
STEPS = ("plan", "simulate", "calibrate", "compensate", "status")


def page(result: NewResult) -> Report:
    columns = (Column("file", "file"),)
    rows = tuple((place.as_posix(),) for place in result.contents)
    steps = [
        c for c in STEPS if c != "compensate" or any(p.parent.name == "programs" and p.suffix for p in result.contents)
    ]
    to_do = Paragraphs(tuple(shell_line(command, result.folder) for command in steps))
    guessed = any(row.kind == "joint compliance" for row in result.assumptions)
    return Report(
        f"New cell {result.name}",
        (
            f"{result.folder} is a cell of {result.robot}; README.md in it says what to do next.",
            *((WITHOUT,) if guessed else ()),
        ),
        (
            Section("Assumptions", (_assumed(result),)),
            Section("Files", (Table("cell_files", "In the folder", columns, rows),)),
            Section(TRY, (to_do,)),
        ),
        result.notes,
    )


def screen(result: NewResult, whole: Report) -> Report:
    """How many assumptions there are of each kind, and where; the list is in the cell."""
    from elastocal.app.starter.robot import counted

    kinds = ", ".join(f"{kind} {count}" for kind, count in counted(result.assumptions).items())
    message = (
        f"{len(result.assumptions)} assumptions stand in {(result.folder / 'ASSUMPTIONS.md').as_posix()}, each with "
        f"its value, its source and where to replace it: {kinds}."
    )
    steps = [s for s in whole.sections if s.title == TRY]
    return replace(whole, verdict=(*whole.verdict, message), sections=tuple(steps))


def _assumed(result: NewResult) -> Table:
    """Without the sources, which ASSUMPTIONS.md has."""
    columns = (Column("what", "what"), Column("value", "value"), Column("where", "replace it in"))
    return Table("assumptions", "Taken for granted (ASSUMPTIONS.md)", columns, tuple(r[:3] for r in result.assumptions))
