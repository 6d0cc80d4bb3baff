"""What a compensator's spring does to a robot's joint, as a section of its report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elastocal.app.configurations import axes_of
from elastocal.report.blocks import Block, Cell, Column, Lines, Section, Series, Table

if TYPE_CHECKING:
    from elastocal.model.loads.gravity_compensator import GravityCompensator
    from elastocal.procedures.compensator.spring import SpringOnRobot
    from elastocal.spatial.entries import Array


def _named_springs(result: SpringOnRobot) -> tuple[tuple[str, GravityCompensator], ...]:
    """The robot's own and the balancing one, where they exist."""
    pairs = (("of the robot file", result.own), ("best balance", result.balance.spring if result.balance else None))
    return tuple((name, spring) for name, spring in pairs if spring is not None)


def spring_section(result: SpringOnRobot) -> Section:
    blocks: list[Block] = []
    if _named_springs(result):
        blocks = [_spring_table(result), *(_eta(result), _compliance(result))]
    if result.balance is not None:
        blocks.append(_torques(result))
    return Section(f"Spring on {result.model.name}", tuple(b for b in blocks if not isinstance(b, Lines) or b.series))


def others(result: SpringOnRobot) -> str:
    """Where the other axes stand, as the controller shows them."""
    axes = axes_of(result.model)
    values = result.model.controller.to_controller(result.q[:1])[0] / axes.factors
    rows = zip(result.model.joints, axes.names, values, axes.units, strict=True)
    return ", ".join(f"{axis} {v + 0.0:g} {u}" for j, axis, v, u in rows if j != result.joint)


def spring_sentences(result: SpringOnRobot) -> tuple[str, ...]:
    import numpy as np

    out = []
    if result.balance is not None:
        b = result.balance
        low, high = (1e-3 * f for f in result.range_of(b.spring).force)
        out.append(
            f"The spring of this geometry that holds the arm best (other axes at {others(result)}) has 1/k_c = "
            f"{1e-3 / b.spring.k_c:.4g} N/mm and s_0 = {1e3 * b.spring.s_0:.1f} mm: it takes {100 * b.share:.1f} % of "
            f"the weights' torque and pulls with {low:.3g} to {high:.3g} kN."
        )
    if result.own is not None and result.k > 0:
        k = 1e6 * result.equivalent(result.own)
        word = "stiffens" if np.all(k < 1e6 * result.k) else "does not stiffen everywhere"
        out.append(
            f"The pair of the robot file {word} joint {result.joint}: {k.min():.4g} to {k.max():.4g} against "
            f"{1e6 * result.k:.4g} urad/(N m) without it."
        )
    return tuple(out)


def _spring_table(result: SpringOnRobot) -> Table:
    columns = (
        Column("spring", "spring"), Column("mode", "mode"), Column("k_c_m_per_N", "k_c", "um/N", digits=5, scale=1e6),
        Column("s_0_mm", "s_0", "mm", 2), Column("force_min_kN", "force min", "kN", digits=4),
        Column("force_max_kN", "max", "kN", digits=4), Column("torque_max_Nm", "largest torque", "N m", digits=4),
        Column("share_percent", "weight taken", "%", 1), Column("eta_min", "eta min", "", 4),
        Column("eta_max", "max", "", 4),
    )  # fmt: skip
    rows: list[tuple[Cell, ...]] = []
    for name, spring in _named_springs(result):
        over = result.range_of(spring)
        share = None if spring is result.own or result.balance is None else 100 * result.balance.share
        rows.append((
            name, spring.mode, spring.k_c, 1e3 * spring.s_0, *(1e-3 * f for f in over.force),
            over.largest_torque, share, *over.eta,
        ))  # fmt: skip
    low, high = _degrees(result)[[0, -1]]
    return Table("springs", "", columns, tuple(rows), (f"Over {result.joint} from {low:g} to {high:g} deg.",))


def _degrees(result: SpringOnRobot) -> Array:
    import numpy as np

    return np.asarray(np.round(np.degrees(result.angles), 9), dtype=np.float64)


def _series(name: str, result: SpringOnRobot, values: Array) -> Series:
    return Series(name, tuple(float(v) for v in _degrees(result)), tuple(float(v) for v in values))


def _eta(result: SpringOnRobot) -> Lines:
    series = tuple(_series(name, result, s.eta(result.angles)) for name, s in _named_springs(result))
    return Lines("eta", "Factor eta of eq. (6)", result.joint, "deg", "eta", "", series)


def _compliance(result: SpringOnRobot) -> Lines:
    title, unit = f"Equivalent compliance of {result.joint}, eq. (5)", "urad/(N m)"
    if not result.k > 0:
        return Lines("equivalent", title, result.joint, "deg", "compliance", unit, ())
    series = [_series(name, result, 1e6 * result.equivalent(s)) for name, s in _named_springs(result)]
    series.append(
        Series("no spring", tuple(float(v) for v in _degrees(result)), (1e6 * result.k,) * len(result.angles))
    )
    note = "Small loads about the unloaded angle; a spring whose torque matters also bends the joint without load."
    return Lines("equivalent", title, result.joint, "deg", "compliance", unit, tuple(series), (note,))


def _torques(result: SpringOnRobot) -> Lines:
    assert result.balance is not None
    b = result.balance
    series = (
        _series("weights", result, 1e-3 * b.weight),
        _series("held by the spring", result, 1e-3 * (b.weight - b.left)),
        _series("left for the drive", result, 1e-3 * b.left),
    )
    return Lines("torques", "Torque on the joint, best balance", result.joint, "deg", "torque", "kN m", series)
