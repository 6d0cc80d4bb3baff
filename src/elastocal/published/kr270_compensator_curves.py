"""What Tables 2 and 3 of Klimchik et al. 2013 (MIM) say of joint 2: eta, equivalent compliance, force; Figs. 4, 5."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elastocal.published.figure import Figure
from elastocal.published.printed import Printed
from elastocal.report.blocks import Lines, Series

if TYPE_CHECKING:
    from elastocal.model.loads.gravity_compensator import GravityCompensator
    from elastocal.procedures.compensator.geometry import CompensatorGeometry
    from elastocal.spatial.entries import Array

RANGE_DEG = (-145.0, 0.0)
K2, K_C, S_0 = 0.302e-6, 0.144e-6, 458e-3
"""Table 3."""
FREE_LENGTHS_MM = (300.0, 380.0, 458.0, 540.0)
PRINTED = Printed("kr270-compensator")


def angles() -> Array:
    import numpy as np

    return np.asarray(np.radians(np.linspace(*RANGE_DEG, 2901)))


def springs(found: CompensatorGeometry, s_0: float = S_0) -> tuple[GravityCompensator, GravityCompensator]:
    """With the published geometry, and with the one fitted to Table 1; phi0 fits the lengths of Table 1 in both."""
    from elastocal.model.loads.gravity_compensator import GravityCompensator

    sets = (tuple(1e-3 * PRINTED.value(n) for n in ("a_x_mm", "a_y_mm", "L_mm")), (found.a_x, found.a_y, found.L))
    published, fitted = (
        GravityCompensator(
            joint="A2", a_x=a_x, a_y=a_y, L=length, phi0=found.phi0_by_length, k_c=K_C, s_0=s_0, mode="stiffness_only"
        )
        for a_x, a_y, length in sets
    )
    return published, fitted


def equivalent(spring: GravityCompensator, q: Array) -> Array:
    """Compliance of joint 2 with the compensator, eq. (5)."""
    import numpy as np

    return np.asarray(1.0 / (1.0 / K2 + spring.stiffness(q)))


def curve_figures(found: CompensatorGeometry) -> tuple[Figure, ...]:
    """Extremes over the range, with the published geometry and with the fitted one."""
    q, out = angles(), list[Figure]()
    for spring, tail in zip(springs(found), ("", "_fitted"), strict=True):
        out += _extremes("eta", tail, spring.eta(q), q)
        out += _extremes("k2eq", tail, 1e6 * equivalent(spring, q), q)
        out += _extremes("spring_force", tail, 1e-6 * spring.force(q), q)
    return tuple(out)


def _extremes(name: str, tail: str, values: Array, q: Array) -> list[Figure]:
    import numpy as np

    return [
        PRINTED.figure(f"{name}_{word}{tail}", float(values[i]), at=np.degrees(q[i]))
        for word, i in (("min", int(np.argmin(values))), ("max", int(np.argmax(values))))
    ]


def curve_words(found: CompensatorGeometry) -> str:
    q, (spring, _) = angles(), springs(found)
    k2, force = 1e6 * equivalent(spring, q), 1e-6 * spring.force(q)
    word = "everywhere, as the paper says" if k2.max() < 1e6 * K2 else "not everywhere, against the paper"
    return (
        f"Over A2 from {RANGE_DEG[0]:g} to {RANGE_DEG[1]:g} deg the compensator stiffens joint 2 {word} ("
        f"{k2.min():.3f} to {k2.max():.3f} against {1e6 * K2:.3f} e-6 rad/(N m) without it); but k_c and s_0 of Table "
        f"3 would need a spring that pulls with {force.min():.2f} to {force.max():.2f} MN, so the pair describes a "
        "stiffness, not a spring."
    )


def drawings(found: CompensatorGeometry) -> tuple[Lines, Lines]:
    """Figs. 4 and 5, for several preloads."""
    import numpy as np

    q = angles()[::20]
    x = tuple(float(v) for v in np.degrees(q))
    each = [(f"s_0 = {s:g} mm", springs(found, 1e-3 * s)[1]) for s in FREE_LENGTHS_MM]
    eta = tuple(Series(name, x, tuple(float(v) for v in s.eta(q))) for name, s in each)
    k2 = tuple(Series(name, x, tuple(float(v) for v in 1e6 * equivalent(s, q))) for name, s in each)
    note = (
        "As Fig. {} of Klimchik et al. 2013 (MIM), with the geometry fitted to Table 1; 458 mm is the free length of "
        "Table 3, the others show its influence."
    )
    without = Series("no compensator", x, (1e6 * K2,) * len(x))
    return (
        Lines("eta", "Compensator factor eta, eq. (6)", "A2", "deg", "eta", "", eta, (note.format(4),)),
        Lines("k2eq", "Equivalent compliance of joint 2, eq. (5)", "A2", "deg", "compliance", "1e-6 rad/(N m)",
              (*k2, without), (note.format(5),)),
    )  # fmt: skip
