"""The cantilever: textbook deflections, section properties by integration, and a beam cut into springs."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from elastocal.model.compliant.beam import Beam, Circle, HollowRectangle, Rectangle, Tube
from elastocal.model.compliant.link_compliance import LinkCompliance, as_matrix6
from elastocal.model.frames import Frame, FrameTree
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.robot import Robot
from elastocal.model.statics.deflection import deflection, linear_deflection
from elastocal.model.statics.equilibrium import Status, equilibrium
from elastocal.spatial.pose import Pose

E, NU = 210e9, 0.3
G = E / 2.6


def cut_beam(matrix_of, length, pieces):
    """A clamped beam along x as ``pieces`` segments, each with the compliance of its own length at its end."""
    frames, parent = [], "base"
    for i in range(pieces):
        frames.append(Frame(f"s{i}", parent, Pose(translation=(length / pieces, 0, 0))))
        parent = f"s{i}"
    k = as_matrix6(matrix_of(length / pieces))
    return Robot(
        "beam", FrameTree(tuple(frames)), parent, tuple(LinkCompliance(frame=f.name, matrix=k) for f in frames)
    )


def test_tip_force_and_moment_deflect_a_steel_bar_as_in_the_textbook():
    """Bar 30 x 50 mm, 0.8 m long: P l^3/3EI + P l/(5/6 G A), slope P l^2/2EI, and M l^2/2EI, M l/EI."""
    b, h, length = 0.03, 0.05, 0.8
    k = Beam(section=Rectangle(width=b, height=h), length=length, E=E, nu=NU).compliance()
    model = cut_beam(lambda _: k, length, 1)
    p, m = 500.0, 120.0
    got = linear_deflection(
        model, np.empty((3, 0)), [AppliedWrenches("s0", [[0, 0, p, 0, 0, 0], [0, p, 0, 0, 0, m], [p, 0, 0, m, 0, 0]])]
    ).twist
    iy, iz, area = b * h**3 / 12, h * b**3 / 12, b * h
    shear = p * length / (5 / 6 * G * area)
    np.testing.assert_allclose(got[0, 2], p * length**3 / (3 * E * iy) + shear, rtol=1e-12)
    np.testing.assert_allclose(got[0, 4], -p * length**2 / (2 * E * iy), rtol=1e-12)
    np.testing.assert_allclose(
        got[1, 1], p * length**3 / (3 * E * iz) + shear + m * length**2 / (2 * E * iz), rtol=1e-12
    )
    np.testing.assert_allclose(got[1, 5], p * length**2 / (2 * E * iz) + m * length / (E * iz), rtol=1e-12)
    np.testing.assert_allclose(got[2, 0], p * length / (E * area), rtol=1e-12)
    assert got[0, 2] == pytest.approx(1.3e-3, rel=0.02)  # 1.300 mm by hand


def saint_venant(long, short, terms=200):
    """Torsion constant of a full rectangle by Saint-Venant's series."""
    n = np.arange(1, 2 * terms, 2)
    return (
        long
        * short**3
        * (1 / 3 - 64 / np.pi**5 * short / long * np.sum(np.tanh(n * np.pi * long / (2 * short)) / n**5))
    )


@pytest.mark.parametrize(("b", "h"), [(0.03, 0.05), (0.2, 0.04), (0.1, 0.1)])
def test_torsion_of_a_rectangle_follows_saint_venants_series(b, h):
    torsion = Rectangle(width=b, height=h).properties[3]
    assert torsion == pytest.approx(saint_venant(max(b, h), min(b, h)), rel=5e-3)


def integrated(inside, size, cells=1200):
    """Area, Iy = int z^2, Iz = int y^2 by counting cells; y is the width, z the height."""
    edge = (np.arange(cells) + 0.5) / cells * size - size / 2
    y, z = np.meshgrid(edge, edge, indexing="ij")
    filled = inside(y, z) * (size / cells) ** 2
    return filled.sum(), (filled * z**2).sum(), (filled * y**2).sum()


SECTIONS = {
    "rectangle": (Rectangle(width=0.06, height=0.1), lambda y, z: (abs(y) < 0.03) & (abs(z) < 0.05)),
    "box": (
        HollowRectangle(width=0.06, height=0.1, wall=0.01),
        lambda y, z: (abs(y) < 0.03) & (abs(z) < 0.05) & ~((abs(y) < 0.02) & (abs(z) < 0.04)),
    ),
    "circle": (Circle(diameter=0.1), lambda y, z: np.hypot(y, z) < 0.05),
    "tube": (Tube(diameter=0.1, wall=0.01), lambda y, z: (np.hypot(y, z) < 0.05) & (np.hypot(y, z) > 0.04)),
}


@pytest.mark.parametrize("shape", SECTIONS)
def test_area_and_second_moments_are_the_integrals_over_the_section(shape):
    section, inside = SECTIONS[shape]
    np.testing.assert_allclose(section.properties[:3], integrated(inside, 0.12), rtol=3e-3)


def test_torsion_constants_of_round_and_thin_walled_sections():
    area, iy, _, torsion = SECTIONS["tube"][0].properties[:4]
    assert torsion == pytest.approx(np.pi * (0.1**4 - 0.08**4) / 32, rel=1e-12)
    assert iy == pytest.approx(area * (0.05**2 + 0.04**2) / 4, rel=1e-12)
    # Bredt: 4 A_m^2 t / perimeter of the middle line
    middle, around = 0.05 * 0.09, 2 * (0.05 + 0.09)
    assert SECTIONS["box"][0].properties[3] == pytest.approx(4 * middle**2 * 0.01 / around, rel=1e-12)


def test_shear_of_a_tube_is_that_of_its_shear_flow():
    """Thin wall: the energy of the flow q(s) = V S(s) / I gives the shear area I^2 / int S^2/t ds, half the area."""
    radius, wall, length = 0.06, 0.0004, 0.3
    tube = Tube(diameter=2 * radius + wall, wall=wall)
    around = (np.arange(20_000) + 0.5) / 20_000 * 2 * np.pi
    step = radius * (around[1] - around[0])
    moment = radius * wall * np.sin(around) * radius  # S(s) of the arc from the axis of symmetry on
    second = np.sum((radius * np.sin(around)) ** 2 * wall * step)
    expected = second**2 / np.sum(moment**2 / wall * step)
    k = Beam(section=tube, length=length, E=E, nu=NU).compliance()
    _, iy, iz, _, _, _ = tube.properties
    for got in (k[1, 1] - length**3 / (3 * E * iz), k[2, 2] - length**3 / (3 * E * iy)):
        assert length / (G * got) == pytest.approx(expected, rel=1e-4)


def test_shear_of_a_box_is_carried_by_the_walls_along_it():
    """The area of those two walls from mid-line to mid-line of the other two, by counting cells."""
    box, length = HollowRectangle(width=0.06, height=0.1, wall=0.01), 0.3
    area_y, _, _ = integrated(lambda y, z: (abs(y) < 0.025) & (abs(z) < 0.05) & (abs(z) > 0.04), 0.12)
    area_z, _, _ = integrated(lambda y, z: (abs(z) < 0.045) & (abs(y) < 0.03) & (abs(y) > 0.02), 0.12)
    k = Beam(section=box, length=length, E=E, nu=NU).compliance()
    _, iy, iz, _, _, _ = box.properties
    assert length / (G * (k[1, 1] - length**3 / (3 * E * iz))) == pytest.approx(area_y, rel=1e-6)
    assert length / (G * (k[2, 2] - length**3 / (3 * E * iy))) == pytest.approx(area_z, rel=1e-6)


def test_a_beam_cut_into_springs_bends_like_the_whole_one():
    """Linear Timoshenko theory is exact per segment: any cutting gives the same end compliance."""
    beam = HollowRectangle(width=0.06, height=0.1, wall=0.01)

    def matrix_of(length):
        return Beam(section=beam, length=length, E=E, nu=NU).compliance()

    wrench = AppliedWrenches("s8", np.array([[800.0, 300, -500, 40, 70, -30]]))
    got = linear_deflection(cut_beam(matrix_of, 0.9, 9), np.empty((1, 0)), [wrench]).twist[0]
    np.testing.assert_allclose(got, matrix_of(0.9) @ wrench.wrench[0], rtol=1e-12)


EI = 50.0


def bending_only(length):
    """Plane bending about z alone: no shear, no stretch, so the 6x6 matrix has rank two."""
    k = np.zeros((6, 6))
    k[1, 1], k[1, 5], k[5, 1], k[5, 5] = length**3 / 3, length**2 / 2, length**2 / 2, length
    return k / EI


def elastica_tip(force, length):
    """Tip of Euler's elastica under a base-fixed transverse force: EI phi'' = -F cos phi, by shooting."""

    def shoot(curvature):
        return solve_ivp(
            lambda s, u: [u[1], -force / EI * np.cos(u[0]), np.cos(u[0]), np.sin(u[0])],
            (0, length),
            [0, curvature, 0, 0],
            rtol=1e-11,
            atol=1e-12,
        ).y[:, -1]

    end = shoot(brentq(lambda c: shoot(c)[1], 0, 2 * force * length / EI, xtol=1e-13))
    return np.array([end[2] - length, end[3], end[0]])


def test_a_beam_cut_into_many_springs_converges_to_the_elastica():
    """Tip force bending the rod by about 45 deg: x, y and slope converge with at least the square of the cut length."""
    length, force = 1.0, 100.0
    expected = elastica_tip(force, length)
    assert expected[2] > 0.6
    errors = []
    for pieces in (4, 8, 16, 32):
        model = cut_beam(bending_only, length, pieces)
        got = deflection(model, np.empty((1, 0)), [AppliedWrenches(model.tool, [[0, force, 0, 0, 0, 0]])])
        assert got.status[0] == Status.CONVERGED
        errors.append(np.abs(np.array([*got.translation[0, :2], got.rotation[0, 2]]) - expected).max())
    assert errors[-1] < 2e-4
    assert errors[0] / errors[-1] > 30


def test_a_cut_strut_buckles_at_eulers_load():
    """Clamped-free: F = pi^2 EI / (4 l^2), approached from springs; the load factor is F / applied."""
    length, applied = 1.0, 200.0
    euler = np.pi**2 * EI / (4 * length**2)
    model = cut_beam(bending_only, length, 40)
    bent = equilibrium(model, np.empty((1, 0)), [AppliedWrenches(model.tool, [[-applied, 0, 0, 0, 0, 0]])])
    assert bent.status[0] == Status.UNSTABLE
    assert bent.load_factor[0] == pytest.approx(euler / applied, rel=2e-3)
