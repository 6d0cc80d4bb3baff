"""Spring compensator of the KR-270 (Klimchik et al. 2013, MIM): what Tables 2 and 3 say of joint 2."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from elastocal.cases.case import Case, Figure, Outcome, Progress, unwatched
from elastocal.report.blocks import Lines, Series

if TYPE_CHECKING:
    import numpy as np

    from elastocal.model.loads.gravity_compensator import GravityCompensator
    from elastocal.spatial.entries import Array

RANGE_DEG = (-145.0, 0.0)
PHI0_DEG = 90.07
K2 = 0.302e-6
A_X, A_Y, LENGTH = 685.93e-3, 120.30e-3, 184.72e-3
K_C = 0.144e-6
S_0 = 458e-3
FREE_LENGTHS_MM = (300.0, 380.0, 458.0, 540.0)
_CURVE = "only drawn in the paper ({}), no number is printed"


class CompensatorCase(Case):
    name: ClassVar[str] = "kr270-compensator"
    title: ClassVar[str] = "KR-270: what the gravity compensator does to the stiffness of joint 2"
    source: ClassVar[str] = "Klimchik et al. 2013 (MIM), equations (1)-(6), Tables 2 and 3"

    def run(self, rng: np.random.Generator, progress: Progress = unwatched) -> Outcome:
        import numpy as np

        q = np.radians(np.linspace(*RANGE_DEG, 2901))
        spring = _spring(S_0)
        eta, force = spring.eta(q), spring.force(q)
        k2 = _equivalent(spring, q)
        figures = (
            *_extremes("eta", "1", eta, q, "Fig. 4"),
            *_extremes("k2eq", "1e-6 rad/(N m)", 1e6 * k2, q, "Fig. 5"),
            Figure("spring_force_min", None, float(force.min()) * 1e-6, "MN", _FORCE),
            Figure("spring_force_max", None, float(force.max()) * 1e-6, "MN", _FORCE),
        )
        verdict = (
            f"Over A2 from {RANGE_DEG[0]:g} to {RANGE_DEG[1]:g} deg the compensator stiffens joint 2 everywhere "
            f"({1e6 * k2.min():.3f} to {1e6 * k2.max():.3f} against {1e6 * K2:.3f} e-6 rad/(N m) without it), as the "
            f"paper says; but k_c and s_0 of Table 3 would need a spring that pulls with {force.min() * 1e-6:.2f} to "
            f"{force.max() * 1e-6:.2f} MN, so the pair describes a stiffness, not a spring. "
            "Covered: equations (5) and (6) with Tables 2 and 3; the geometry is taken as given, not fitted to Table 1."
        )
        return Outcome(self.name, verdict, figures, (_fig4(q), _fig5(spring, q)))


_FORCE = "not printed; what eq. (2) gives with Table 3 (k_c read as 1e-6 m/N): no real spring pulls like that"


def _spring(s_0: float) -> GravityCompensator:
    from math import radians

    from elastocal.model.loads.gravity_compensator import GravityCompensator

    phi0 = radians(PHI0_DEG)
    return GravityCompensator(
        joint="A2", a_x=A_X, a_y=A_Y, L=LENGTH, phi0=phi0, k_c=K_C, s_0=s_0, mode="stiffness_only"
    )


def _equivalent(spring: GravityCompensator, q: Array) -> Array:
    """Compliance of joint 2 with the compensator, eq. (5)."""
    import numpy as np

    return np.asarray(1.0 / (1.0 / K2 + spring.stiffness(q)))


def _extremes(name: str, unit: str, values: Array, q: Array, drawn: str) -> tuple[Figure, Figure]:
    import numpy as np

    out = []
    for word, i in (("min", int(np.argmin(values))), ("max", int(np.argmax(values)))):
        note = (
            f"{_CURVE.format(drawn)}; here at A2 = {np.degrees(q[i]):.1f} deg, "
            f"with phi0 = {PHI0_DEG} deg (not printed, taken as given)"
        )
        out.append(Figure(f"{name}_{word}", None, float(values[i]), unit, note))
    return out[0], out[1]


def _fig4(q: Array) -> Lines:
    import numpy as np

    x = tuple(float(v) for v in np.degrees(q[::20]))
    series = tuple(
        Series(f"s_0 = {s:g} mm", x, tuple(float(v) for v in _spring(s * 1e-3).eta(q[::20]))) for s in FREE_LENGTHS_MM
    )
    note = (
        "As Fig. 4 of Klimchik et al. 2013 (MIM); 458 mm is the free length of Table 3, the others show its influence."
    )
    return Lines("eta", "Compensator factor eta, eq. (6)", "A2", "deg", "eta", "", series, (note,))


def _fig5(spring: GravityCompensator, q: Array) -> Lines:
    import numpy as np

    x = tuple(float(v) for v in np.degrees(q[::20]))
    with_spring = tuple(float(v) for v in 1e6 * _equivalent(spring, q[::20]))
    series = (Series("with compensator", x, with_spring), Series("without", x, (1e6 * K2,) * len(x)))
    title = "Equivalent compliance of joint 2, eq. (5)"
    return Lines("k2eq", title, "A2", "deg", "compliance", "1e-6 rad/(N m)", series, ("As Fig. 5 there.",))
