"""Elastostatic model of the KR-270 (Klimchik et al. 2013, IMECE): its size, and what a measurement can tell.

A rotation counts as the displacement of a point 1 m away.  Both sides of the gap in the singular values are reported,
since a rank without a gap says nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from elastocal.cases import kr270_experiment as ex
from elastocal.cases.case import Case, Figure, Outcome, Progress, Why, unwatched
from elastocal.cases.kr270_experiment import KINDS
from elastocal.cases.kr270_figures import Results, experiment_figures, path_curve
from elastocal.cases.kr270_path import SPRING, path_listings

if TYPE_CHECKING:
    import numpy as np

    from elastocal.identifiability.rank import Rank
    from elastocal.model.compliant.link_compliance import Form
    from elastocal.model.robot import RobotModel

ROBOT = "kuka-kr270"
CONFIGURATIONS = 120
DRAWS = 20


class ElastostaticCase(Case):
    name: ClassVar[str] = "kr270-elastostatic"
    title: ClassVar[str] = (
        "KR-270: size of the elastostatic model, what poses under load tell of it, what it compensates"
    )
    source: ClassVar[str] = "Klimchik et al. 2013 (IMECE), sections 4 and 5"

    def run(self, rng: np.random.Generator, progress: Progress = unwatched) -> Outcome:
        from elastocal.files.robot.read import read_robot

        robot = read_robot(ROBOT)
        sizes = {form: len(_names(robot.with_link_form(form))) for form in _FORMS}
        ranks = {form: observed_rank(robot, form, rng) for form in _FORMS}
        spring = sum(name in robot.parameters.names for name in SPRING)
        of = _experiment(robot, rng, progress)
        figures = (*_size_figures(sizes, spring), *_rank_figures(ranks), *experiment_figures(of))
        said = {f.name: f.recomputed for f in figures}
        counts = (of.both.stages[0].parameters + spring, *(s.parameters for s in of.both.stages))
        path = f"The path is {' -> '.join(str(c) for c in counts)}."
        verdict = f"{_theory(sizes, ranks, spring)} {path} {_practice(said)} {_LIMITS}"
        return Outcome(self.name, verdict, figures, (path_curve(of),), path_listings(robot, of.both))


def _experiment(robot: RobotModel, rng: np.random.Generator, progress: Progress) -> Results:
    total = DRAWS + 4
    sources = ex.tracker_only()
    setup = ex.two_setups(robot, rng)
    campaign = ex.measured(robot, setup, sources, rng, "loaded")
    both = ex.identified(robot, campaign, whole_path=True)
    progress(1, total)
    once = ex.all_at_once(both)
    progress(2, total)
    vertical = ex.identified(robot, ex.first_setup(campaign))
    progress(3, total)
    budget = ex.identified(robot, ex.measured(robot, setup, ex.error_budget(), rng, "loaded"))
    progress(4, total)
    linear = ex.HeldOut.build(robot, "linear")
    draws = []
    for number in range(DRAWS):
        found = ex.identified(robot, ex.measured(robot, ex.two_setups(robot, rng), sources, rng, "linear"))
        draws.append((len(found.fit.names), linear.share(linear.rest(found.fit.model))))
        progress(5 + number, total)
    return Results(both, budget, vertical, once, ex.HeldOut.build(robot), tuple(draws))


def _theory(sizes: dict[Form, int], ranks: dict[Form, Rank], spring: int) -> str:
    return (
        f"The model sizes of the paper come out ({sizes['full'] + spring}, {sizes['full']}, {sizes['symmetric']}, "
        f"{sizes['beam']}), with the seventh 6x6 spring at the base; but of these only {ranks['full'].rank}, "
        f"{ranks['symmetric'].rank} and {ranks['beam'].rank} combinations can be told apart even without noise, so "
        "that not all 153 may be identified."
    )


def _practice(said: dict[str, float | None]) -> str:
    """What the virtual experiment gives; a figure without a value is shown as nan."""
    v = {name: float("nan") if value is None else value for name, value in said.items()}
    share, lost = v["compensated_percent"], v["compensated_percent"] - v["compensated_percent_all_at_once"]
    return (
        "In a virtual experiment like that of section 5 (truth: the shipped robot, loaded; nothing known of its "
        f"compliances, the compensator known) {v['practical_count']:g} parameters stand out of a tracker's noise "
        f"({v['practical_count_fewest']:g} to {v['practical_count_most']:g} in {DRAWS} further draws), "
        f"{v['practical_count_budget']:g} with an error budget; printed are 18 with the compensator's two. They "
        f"compensate {share:.1f} % of the deflection under loads from all sides, {'more' if share > 95 else 'less'} "
        f"than the printed 95 %, and {v['compensated_percent_budget']:.1f} % with the error budget; left are "
        f"{v['left_mm']:.3f} and {v['left_mm_budget']:.3f} mm of {v['deflection_mm']:.1f} mm, where "
        f"{v['predicted_sd_mm']:.3f} and {v['predicted_sd_mm_budget']:.3f} mm are expected from the readings and the "
        "paper has about 0.1 mm (a real robot also has friction and errors of geometry). Vertical loads alone give "
        f"{v['compensated_percent_vertical']:.0f} % (but {v['compensated_percent_vertical_own']:.1f} % of vertical "
        f"deflections), and M3 in one step {'loses' if lost > 0 else 'gains'} {abs(lost):.1f} % against one by one."
    )


_LIMITS = (
    "Covered: model sizes, theoretical rank, practical identifiability and compensation, on a virtual robot whose "
    "link and foundation springs are assumptions. Not covered: optimised configurations, k_c and s_0 among the "
    "unknowns, and the measurements themselves, which are not published."
)


_FORMS: tuple[Form, ...] = ("full", "symmetric", "beam")


def _names(robot: RobotModel) -> tuple[str, ...]:
    return tuple(p.name for p in robot.parameters if p.kind in KINDS)


def observed_rank(robot: RobotModel, form: Form, rng: np.random.Generator) -> Rank:
    """Rank for full poses of the tool in random configurations within the limits, under random wrenches at the tool."""
    import numpy as np

    from elastocal.identifiability.rank import decide_rank
    from elastocal.model.loads.wrench import AppliedWrenches
    from elastocal.model.statics.linear_observation import linear_observation
    from elastocal.model.statics.observation import Marker

    model = robot.with_link_form(form)
    limits = np.array([m.limits for m in model.motions])
    q = rng.uniform(limits[:, 0], limits[:, 1], (CONFIGURATIONS, model.n))
    wrenches = rng.uniform(-1, 1, (CONFIGURATIONS, 6)) * 1000.0
    names, matrix = linear_observation(
        model, q, [AppliedWrenches(model.tool, wrenches)], [Marker(model.tool, "pose")], _names(model)
    )
    scales = model.parameters.scales[[model.parameters.index(n) for n in names]]
    return decide_rank(matrix.reshape(-1, len(names)), scales)


def _size_figures(sizes: dict[Form, int], spring: int) -> tuple[Figure, ...]:
    unit = "parameters"
    return (
        Figure("params_complete", 260, sizes["full"] + spring, unit, "258 and k_c and s_0", "section 5"),
        Figure("params_links_joints", 258, sizes["full"], unit, _SEVENTH, "section 3.3"),
        Figure("params_symmetric", 153, sizes["symmetric"], unit, "6 + 7 x 21 (M1)", "section 4.2"),
        Figure("params_template", 62, sizes["beam"], unit, "6 + 7 x 8 (M2, eq. 24)", "section 4.2"),
    )


_SEVENTH = "6 joints + 7 springs x 36; the seventh sits at the base"


def _rank_figures(ranks: dict[Form, Rank]) -> tuple[Figure, ...]:
    said: dict[Form, tuple[str, float | None, str, str]] = {
        "full": ("rank_links_joints", None, "not printed", ""),
        "symmetric": ("rank_symmetric", 153, "the paper's own count of what may be identified in theory", "section 6"),
        "beam": ("rank_template", 42, "the paper's own count after its reductions M1-M3", "section 4.3"),
    }
    out = []
    for form, (name, published, why, place) in said.items():
        r = ranks[form]
        values = r.singular / r.singular[0]
        note = (
            f"{why}; recomputed: full tool poses in {CONFIGURATIONS} random configurations under random wrenches, "
            f"seventh spring at the base; relative singular values fall from {values[r.rank - 1]:.1e} "
            f"to {values[r.rank]:.1e} there"
        )
        out.append(Figure(name, published, r.rank, "parameters", note, place, Why.DEFINITION if place else None))
    return tuple(out)
