"""One link of the Orthoglide (Klimchik, Caro, Pashkevich 2013, IMECE, section 3.2): what noise leaves of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from elastocal.cases.case import Case, Figure, Outcome, Progress, unwatched

if TYPE_CHECKING:
    import numpy as np

    from elastocal.identifiability.practical import Expectation

FORCE, MOMENT = 10.0, 10.0
STATED = (25e-6, 0.25e-3)
IMPLIED = (2.5e-6, 2.5e-5)
PUBLISHED = {
    "k22": 320.0, "k26": 1592.0, "k33": 146.0, "k35": 684.0, "k44": 1504.0,
    "k53": 68.4, "k55": 436.0, "k62": 159.0, "k66": 1060.0,
}  # fmt: skip
_RATIO = "|k|/sigma, eq. (18), with the sigma/load that the printed ratios imply: 2.5e-7 and 2.5e-6"


class OrthoglideLinkCase(Case):
    name: ClassVar[str] = "orthoglide-link"
    title: ClassVar[str] = "Orthoglide link: which of 36 compliance elements can be identified"
    source: ClassVar[str] = "Klimchik, Caro, Pashkevich 2013 (IMECE), equations (15)-(18) and section 4.2"

    def run(self, rng: np.random.Generator, progress: Progress = unwatched) -> Outcome:
        implied = {e.name.removeprefix("tip."): e for e in _expected(IMPLIED)}
        passing = [n for n, e in implied.items() if e.ratio > 5]
        stated = [e.name.removeprefix("tip.") for e in _expected(STATED) if e.ratio > 5]
        sizes = _sizes()
        figures = (
            Figure("identifiable_count", 9, len(passing), "1", f"elements with ratio above 5: {', '.join(passing)}"),
            Figure("identifiable_count_stated_noise", None, len(stated), "1", "with the stated 25 um and 0.25 mrad"),
            Figure("params_full", 36, sizes["full"], "1", "every element on its own"),
            Figure("params_symmetric", 21, sizes["symmetric"], "1", "after symmetrisation (M1)"),
            Figure("params_template", 8, sizes["beam"], "1", "after the beam template (M2, eq. 24)"),
            *(Figure(f"nu_{n}", value, implied[n].ratio, "1", _RATIO) for n, value in PUBLISHED.items()),
        )
        factor = STATED[0] / IMPLIED[0]
        verdict = (
            f"{len(passing)} of 36 elements are identifiable in practice, the nine that the paper names. Its printed "
            f"ratios need noise {factor:g} times smaller than the stated 25 um and 0.25 mrad at 10 N and 10 N m; with "
            f"the stated noise the ratios are {factor:g} times smaller and {len(stated)} elements still pass. "
            "Covered: the ratios (18) from the exact matrix, not the single noisy estimates (16), (17) and (25)."
        )
        return Outcome(self.name, verdict, figures)


def _expected(noise: tuple[float, float]) -> tuple[Expectation, ...]:
    """Accuracy of the 36 elements from six unit loads, full pose, as in section 3.2."""
    import numpy as np

    from elastocal.files.robot_yaml import read_robot
    from elastocal.identifiability.groups import classify
    from elastocal.identifiability.practical import expectations
    from elastocal.model.loads.wrench import AppliedWrenches
    from elastocal.model.statics.linear_observation import linear_observation
    from elastocal.model.statics.observation import Marker

    model = read_robot("orthoglide-link").with_link_form("full")
    loads = np.diag([FORCE] * 3 + [MOMENT] * 3)
    applied = AppliedWrenches(model.tool, loads)
    names, matrix = linear_observation(model, np.zeros((6, 0)), [applied], [Marker(model.tool, "pose")])
    whitened = (matrix / np.repeat(noise, 3)[None, :, None]).reshape(-1, len(names))
    groups = classify(names, whitened, model.parameters.scales)
    return expectations(groups, whitened, model.parameters.values)


def _sizes() -> dict[str, int]:
    from elastocal.files.robot_yaml import read_robot
    from elastocal.model.compliant.link_compliance import FORMS

    robot = read_robot("orthoglide-link")
    return {form: len(robot.with_link_form(form).parameters) for form in FORMS if form != "isotropic"}
