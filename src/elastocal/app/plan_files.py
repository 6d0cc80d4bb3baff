"""What a plan is measured by: a table and a campaign file that the other commands read, and a program.

These files never replace what the plan was read from, nor readings.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elastocal.app.plan_request import PlanRequest
from elastocal.errors import FileError
from elastocal.untrusted import shell_line

if TYPE_CHECKING:
    from elastocal.compensation.posts.post import Post
    from elastocal.design.candidates import CandidateSet
    from elastocal.design.method import Stop
    from elastocal.design.result import Plan
    from elastocal.design.sweeping import Sweeping
    from elastocal.files.campaign.file import Requests
    from elastocal.files.plan.file import PlanFile
    from elastocal.measure.measured import Measured
    from elastocal.model.robot import Robot

TABLE = "plan.csv"
WAIT = 5.0
"""Seconds that the program stands at every pose."""
NOTHING = "NOT CHECKED: anything but joint limits, neither at the poses nor on the ways between them."


def plan_files(request: PlanRequest, file: PlanFile, plan: Plan) -> tuple[dict[Path, str], tuple[str, ...]]:
    """Texts by path, and what is to be said of them; a program only where the controller's language is known."""
    from elastocal.design.sweeping import Sweeping
    from elastocal.design.touching import Touching

    method = plan.task.measuring
    notes: tuple[str, ...] = ()
    if isinstance(method, Touching):
        texts = _contact_texts(request, file, plan)
    elif isinstance(method, Sweeping):
        texts, notes = {TABLE: _sweep_table(method, plan.chosen)}, (_gravity_words(method, file),)
    else:
        texts = _marker_texts(request, file, plan)
    program, more = measuring_program(file.name, plan.task.model, plan.program, request.language, _checked(plan))
    return {request.out / name: text for name, text in (texts | program).items()}, (*notes, *more)


def measuring_program(
    name: str, model: Robot, halts: tuple[Stop, ...], asked: str | None = None,
    checked: tuple[str, ...] = (NOTHING,),
) -> tuple[dict[str, str], tuple[str, ...]]:  # fmt: skip
    """Texts by file name in the language of the controller or the ``asked`` one and what they leave to others.

    Or none, and why.
    """
    from elastocal.compensation.posts.post import post_kinds

    post = _post(model, asked)
    why = (
        _NO_LANGUAGE.format(", ".join(model.controller.axes), ", ".join(post_kinds()))
        if post is None
        else post.hindrance(model, halts)
    )
    if post is None or why:
        return {}, (f"No measuring program is written: {why}.",)
    head = (f"{name}: poses of a calibration campaign", *checked, "Run slowly, watch.")
    return post.measuring_program(name, model, halts, head, WAIT), post.cautions(model, halts)


def _post(model: Robot, asked: str | None) -> Post | None:
    from elastocal.compensation.posts.post import language, post_of

    return post_of(asked or language(model))


def _checked(plan: Plan) -> tuple[str, ...]:
    """What the head of the program says of poses and ways."""
    done, left = ([c.text for c in plan.checks if c.done is each] for each in (True, False))
    return f"Checked: {'; '.join(done)}.", f"NOT CHECKED: {'; '.join(left)}."


_NO_LANGUAGE = (
    "the controller's axes are {}, not A1 to A6; say its language in the robot file, such as "
    "'controller: {{language: krl}}', or by --language: {}"
)


def robot_from(file: PlanFile, out: Path) -> str:
    """The word for the robot as seen from the folder of the plan's files."""
    from elastocal.files.opened import seen_from
    from elastocal.files.robot.read import robot_file

    own = robot_file(file.robot)
    if own is None:
        return file.robot
    return seen_from(file.folder / own if file.located else own, out)


def _unread(plan: Plan) -> tuple[Measured, CandidateSet]:
    """The campaign without its readings, and its candidates, each as often as it is read."""
    import numpy as np

    from elastocal.measure.measured import Measured

    task = plan.task
    each = plan.chosen.picked(np.repeat(np.arange(len(plan.chosen)), task.repeats))
    kind = task.measuring.readings(each)
    return Measured(kind, np.full((kind.count, len(kind.rows)), np.nan), task.measuring.sources), each


def _requests(file: PlanFile, plan: Plan) -> Requests:
    """What the plan was made for, and the model that is to be found by it."""
    from elastocal.files.campaign.file import Requests

    sought = plan.problem.names if plan.task.prior is None else None
    return Requests(sought, (), file.form, model=file.model)


def _marker_texts(request: PlanRequest, file: PlanFile, plan: Plan) -> dict[str, str]:
    from elastocal.files.campaign.write import campaign_text, table_text

    campaign, each = _unread(plan)
    model, times = plan.task.model, plan.task.repeats
    text = campaign_text(
        campaign, model, name=file.name, robot=robot_from(file, request.out), table=TABLE,
        requests=_requests(file, plan), tool=file.tool, without=file.without,
        words=file.located.data if file.located else {},
    )  # fmt: skip
    names = [f"P{i // times + 1}" for i in range(len(each))]
    return {"campaign.yaml": text, TABLE: table_text(campaign, model, names)}


def _contact_texts(request: PlanRequest, file: PlanFile, plan: Plan) -> dict[str, str]:
    from elastocal.files.contact.objects import contact_table_text, contact_text
    from elastocal.files.text import FlowList
    from elastocal.measure.contacts import contacts_of

    campaign, each = _unread(plan)
    kind, model, times = contacts_of(campaign.measurement), plan.task.model, plan.task.repeats
    head: dict[str, Any] = {"name": file.name, "robot": robot_from(file, request.out)}
    head |= {} if file.tool is None else {"tool": file.tool}
    head |= {"without": FlowList(file.without)} if file.without else {}
    text = contact_text(campaign, kind, model, head, TABLE, _requests(file, plan))
    names = [f"P{i // times + 1}: {each.label(i)}" for i in range(len(each))]
    return {"campaign.yaml": text, TABLE: contact_table_text(campaign, kind, model, names)}


def _sweep_table(method: Sweeping, candidates: CandidateSet) -> str:
    """Way points: where each sweep starts, where it turns, where it ends."""
    import numpy as np

    from elastocal.app.configurations import axes_of
    from elastocal.design.sweeping import Stroke
    from elastocal.files.text import csv_text

    strokes = [o for o in candidates.options if isinstance(o, Stroke)]
    each = [strokes[i] for i in np.repeat(candidates.option, 3)]
    q = np.stack([candidates.q, method.ends(candidates), candidates.q], axis=1).reshape(-1, candidates.model.n)
    axes = axes_of(candidates.model)
    shown = candidates.model.controller.to_controller(q) / axes.factors + 0.0
    columns = [
        ("sweep", [f"S{i // 3 + 1}" for i in range(len(q))]),
        ("stop", ["start", "turn", "end"] * len(candidates)),
        ("joint", [candidates.model.joints[s.joint] for s in each]),
        ("speed_deg_s", [f"{np.degrees(s.speed):.6g}" for s in each]),
    ]
    named = zip(axes.names, axes.units, shown.T, strict=True)
    return csv_text([*columns, *((f"{a}_{u}", [f"{v:.4f}" for v in values]) for a, u, values in named)])


def _gravity_words(method: Sweeping, file: PlanFile) -> str:
    from elastocal.measure.sources.friction import TERMS, Friction

    source = next((s for s in method.sources if isinstance(s, Friction)), None)
    terms = ",".join(t for t in TERMS if getattr(source, t, False)) or "none"
    tool = () if file.tool is None else ("--tool", file.tool)
    return (
        "Log joint values and torques while the program runs, from the start of the first sweep to the end of the "
        f"last, then: {shell_line('gravity', 'LOG', file.robot, *tool, '--friction', terms)}"
    )


def check_plan_targets(request: PlanRequest, name: str, model: Robot, files: tuple[Path, ...]) -> None:
    """Before anything is computed; ``files`` are all that were read, the plan's own first."""
    from elastocal.compensation.posts.post import program_name
    from elastocal.files.write import check_targets

    out = request.out
    if out.exists() and not out.is_dir():
        raise FileError.of("out", out, "is a file; name a folder")
    if out.is_dir():
        post = _post(model, request.language)
        endings = () if post is None else (post.suffixes[0], *post.companions)
        names = ("plan.csv", "campaign.yaml", "report.html", *(f"{program_name(name)}{end}" for end in endings))
        inputs = {f"PLAN.yaml as {p.name}" if i else "PLAN.yaml": p for i, p in enumerate(files)}
        check_targets({f"--out ({name})": out / name for name in names}, inputs)


def check_unfilled(files: Mapping[Path, str]) -> None:
    """Before they are written: no table stands there that somebody has filled in."""
    from elastocal.files.write import check_cells_empty

    for path, text in files.items():
        if path.suffix == ".csv":
            check_cells_empty(path, text)
