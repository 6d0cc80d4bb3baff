"""The plain files of a new cell: cell.yaml, README.md and what git shall know."""

from __future__ import annotations

KEPT = ".gitkeep"
"""Git keeps no empty folders: what lies in those that wait for something."""
IGNORED = """\
# left behind by a program that was stopped while it wrote
.*.part
"""
ATTRIBUTES = """\
# results are known by the SHA-256 of their bytes: git must not change line ends
* -text
reports/** linguist-generated
"""


def cell_text(name: str, program: str | None, force: str) -> str:
    """cell.yaml; ``force`` on the tool while the example ``program`` runs is made up."""
    made_up = (
        "options:",
        f"  # MADE UP for programs/{program}, N on the tool in base axes: replace it by the force of your process,",
        "  # or remove it and type --force, --loads or --milling.",
        f'  compensate: {{force: "{force}"}}',
    )
    options = () if program is None else made_up
    lines = (
        "format: elastocal-cell/1",
        f"name: {name}",
        "# Only what differs from the usual places is named here, such as",
        "#   campaign: campaign/january.yaml",
        "# and options of commands that shall not be typed every time (docs/cells.md).",
        *options,
    )
    return "\n".join(lines) + "\n"


def readme_text(name: str, title: str, program: str | None, to_fill: tuple[str, ...]) -> str:
    fill = f"0. Fill in the compliances in `robot/robot.yaml`: {', '.join(to_fill)} are not known.\n" if to_fill else ""
    programs = f"`programs/{program}` is an example" if program else "put programs to correct into `programs/`"
    load = "is given by `--force`, `--loads` or `--milling`, or under `options` in `cell.yaml`"
    load += ", where a made-up force for the example stands: replace it" if program else ""
    return f"""\
# {name}

Calibration of {title} under load, with Elastocal.
All commands are typed in this folder, `.` being the cell; from elsewhere its path takes the place of the dot.

{fill}1. Look at `robot/robot.yaml` and `plan/plan.yaml`: markers, loads, errors of your instruments, obstacles.
2. `elastocal plan .` chooses poses and loads: `plan/plan.csv` and `plan/campaign.yaml`, for KUKA and ABB a program;
   `reports/plan.html` says how good they are.
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
| `campaign/` | readings | you, or `simulate` |
| `calibration/` | what was found | `calibrate` |
| `programs/` | programs, and in `corrected/` the corrected ones | you; `compensate` |
| `reports/` | per command an HTML file for people and the same as JSON | all |
| `records/` | what made every result: inputs and outputs by SHA-256, versions, seed, time | all |

Keep all of it in git. Results hold no time: the same inputs give the same bytes.
"""
