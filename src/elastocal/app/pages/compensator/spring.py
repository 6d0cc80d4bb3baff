"""What a compensator's spring does to a robot's joint, as a section of its report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elastocal.report.blocks import Block, Cell, Column, Lines, Section, Series, Table

if TYPE_CHECKING:
    from elastocal.app.tracking.compensator_spring import SpringResult
    from elastocal.model.loads.gravity_compensator import GravityCompensator
    from elastocal.spatial.entries import Array


def named_springs(result: SpringResult) -> tuple[tuple[str, GravityCompensator], ...]:
    """The robot's own and the balancing one, where they exist."""
    pairs = (("of the robot file", result.own), ("best balance", result.balance.spring if result.balance else None))
    return tuple((name, spring) for name, spring in pairs if spring is not None)


def spring_section(result: SpringResult) -> Section:
    blocks: list[Block] = []
    if named_springs(result):
        blocks = [spring_table(result), *(_eta(result), _compliance(result))]
    if result.balance is not None:
        blocks.append(_torques(result))
    return Section(f"Spring on {result.robot}", tuple(b for b in blocks if not isinstance(b, Lines) or b.series))


def spring_sentences(result: SpringResult) -> tuple[str, ...]:
    import numpy as np

    out = []
    if result.balance is not None:
        b = result.balance
        force = b.spring.force(b.angles)
        out.append(
            f"The spring of this geometry that holds the arm best (other axes at {result.others}) has k_c = "
            f"{b.spring.k_c:.4g} m/N and s_0 = {1e3 * b.spring.s_0:.1f} mm: it takes {100 * b.share:.1f} % of the "
            f"weights' torque and pulls with {1e-3 * force.min():.3g} to {1e-3 * force.max():.3g} kN."
        )
    if result.own is not None and result.k > 0:
        k = 1e6 * result.equivalent(result.own)
        word = "stiffens" if np.all(k < 1e6 * result.k) else "does not stiffen everywhere"
        out.append(
            f"The pair of the robot file {word} joint {result.joint}: {k.min():.4g} to {k.max():.4g} against "
            f"{1e6 * result.k:.4g} urad/(N m) without it."
        )
    return tuple(out)


def spring_table(result: SpringResult) -> Table:
    columns = (
        Column("spring", "spring"), Column("mode", "mode"), Column("k_c_m_per_N", "k_c", "m/N", digits=5),
        Column("s_0_mm", "s_0", "mm", 2), Column("force_min_kN", "force min", "kN", digits=4),
        Column("force_max_kN", "max", "kN", digits=4), Column("torque_max_Nm", "largest torque", "N m", digits=4),
        Column("share_percent", "weight taken", "%", 1), Column("eta_min", "eta min", "", 4),
        Column("eta_max", "max", "", 4),
    )  # fmt: skip
    rows: list[tuple[Cell, ...]] = []
    for name, spring in named_springs(result):
        force, torque, eta = (f(result.angles) for f in (spring.force, spring.torque, spring.eta))
        share = None if spring is result.own or result.balance is None else 100 * result.balance.share
        rows.append((
            name, spring.mode, spring.k_c, 1e3 * spring.s_0, float(1e-3 * force.min()), float(1e-3 * force.max()),
            float(max(abs(torque.min()), abs(torque.max()))), share, float(eta.min()), float(eta.max()),
        ))  # fmt: skip
    low, high = _degrees(result)[[0, -1]]
    return Table("springs", "", columns, tuple(rows), (f"Over {result.joint} from {low:g} to {high:g} deg.",))


def _degrees(result: SpringResult) -> Array:
    import numpy as np

    return np.asarray(np.round(np.degrees(result.angles), 9), dtype=np.float64)


def _series(name: str, result: SpringResult, values: Array) -> Series:
    return Series(name, tuple(float(v) for v in _degrees(result)), tuple(float(v) for v in values))


def _eta(result: SpringResult) -> Lines:
    series = tuple(_series(name, result, s.eta(result.angles)) for name, s in named_springs(result))
    return Lines("eta", "Factor eta of eq. (6)", result.joint, "deg", "eta", "", series)


def _compliance(result: SpringResult) -> Lines:
    title, unit = f"Equivalent compliance of {result.joint}, eq. (5)", "urad/(N m)"
    if not result.k > 0:
        return Lines("equivalent", title, result.joint, "deg", "compliance", unit, ())
    series = [_series(name, result, 1e6 * result.equivalent(s)) for name, s in named_springs(result)]
    series.append(
        Series("no spring", tuple(float(v) for v in _degrees(result)), (1e6 * result.k,) * len(result.angles))
    )
    note = "Small loads about the unloaded angle; a spring whose torque matters also bends the joint without load."
    return Lines("equivalent", title, result.joint, "deg", "compliance", unit, tuple(series), (note,))


def _torques(result: SpringResult) -> Lines:
    assert result.balance is not None
    b = result.balance
    series = (
        _series("weights", result, 1e-3 * b.weight),
        _series("held by the spring", result, 1e-3 * (b.weight - b.left)),
        _series("left for the drive", result, 1e-3 * b.left),
    )
    return Lines("torques", "Torque on the joint, best balance", result.joint, "deg", "torque", "kN m", series)
