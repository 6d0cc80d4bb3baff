"""Spring compensator of the KR-270 (Klimchik et al. 2013, MIM): Table 1 to geometry, Tables 2 and 3 to the stiffness of
joint 2, and the elastostatic experiment behind Table 3 done virtually."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from elastocal.cases.case import Case, Outcome, Progress, unwatched
from elastocal.cases.kr270_compensator_arcs import fitted, geometry_figures, geometry_words
from elastocal.cases.kr270_compensator_curves import curve_figures, curve_words, drawings
from elastocal.cases.kr270_compensator_points import points_drawn
from elastocal.cases.kr270_compensator_table3 import spring_figures, spring_words, table_three

if TYPE_CHECKING:
    import numpy as np


class CompensatorCase(Case):
    name: ClassVar[str] = "kr270-compensator"
    title: ClassVar[str] = "KR-270: gravity compensator, from tracked points to the stiffness of joint 2"
    source: ClassVar[str] = "Klimchik et al. 2013 (MIM), sections 2-6, Tables 1-3, Figs. 4 and 5"

    def run(self, rng: np.random.Generator, progress: Progress = unwatched) -> Outcome:
        arcs = fitted()
        experiment = table_three(rng, progress)
        geometry = arcs.geometry
        figures = (*geometry_figures(arcs), *curve_figures(geometry), *spring_figures(experiment))
        verdict = " ".join((geometry_words(arcs), curve_words(geometry), spring_words(experiment)))
        return Outcome(self.name, verdict, figures, (*drawings(geometry), points_drawn(arcs)))
