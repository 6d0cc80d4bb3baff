"""Monte Carlo of loaded campaigns: deflections of a KR 270 of which the file knows compliances by their priors only.

    python tests/truth/loads.py 8          eight robots of every scenario, one line each

Joints differ from the file by 30 %, links and foundation by 20 % (or links are three times softer), masses by 10 %.
Deflections of three markers are read with 20 um, under 2.5 to 3.5 kN; predicted is the deflection at 25 other poses
under forces of any direction, at the tool's markers.
"""

from __future__ import annotations

import sys
import time

import numpy as np

import elastocal as ec
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.statics.deflection import deflection
from elastocal.quantities import quantile_95

MARKERS = ["marker1", "marker2", "marker3"]
SCENARIOS = {
    "18 poses": (18, 1.0),
    "8 poses": (8, 1.0),
    "links 3 times softer, 18 poses": (18, 3.0),
    "links 3 times softer, 8 poses": (8, 3.0),
}


def moved(robot: ec.Robot, q: np.ndarray, wrench: np.ndarray) -> np.ndarray:
    """Deflections (N, markers, 3)."""
    load = [AppliedWrenches("tool", wrench)]
    return np.stack([deflection(robot, q, load, m).translation for m in MARKERS], axis=1)


def true_robot(file: ec.Robot, softer: float, rng: np.random.Generator) -> ec.Robot:
    out = {}
    for p in file.parameters:
        if p.kind == "joint_compliance":
            out[p.name] = p.value * np.exp(0.3 * rng.normal())
        elif p.kind == "link_compliance":
            out[p.name] = p.value * softer * np.exp(0.1 * rng.normal())
        elif p.kind == "foundation_compliance":
            out[p.name] = p.value * np.exp(0.2 * rng.normal())
        elif p.kind == "link_mass":
            out[p.name] = p.value * (1 + 0.1 * rng.normal())
    return file.with_parameters(out)


def trial(poses: int, softer: float, seed: int) -> tuple[float, float, float, float]:
    """Mean error in m, seen over expected, share within the intervals, processor time in s."""
    rng = np.random.default_rng([seed, poses, int(softer)])
    file = ec.read_robot("kuka-kr270")
    true = true_robot(file, softer, rng)
    low, high = 0.7 * np.array([m.limits for m in file.motions]).T
    q = low + (high - low) * rng.random((poses + 25, file.n))
    wrench = np.zeros((len(q), 6))
    wrench[::2, 0], wrench[1::2, 2] = 3500.0, -2500.0
    wrench[poses:, :3] = 1500 * rng.normal(size=(25, 3)) / np.sqrt(3)
    exact = moved(true, q, wrench)
    read = exact[:poses] + 2e-5 * rng.normal(size=(poses, 3, 3))
    shown = file.controller.to_controller(q)
    data = ec.Campaign(
        q=shown[:poses],
        deflection=read,
        wrench=wrench[:poses],
        length="m",
        angle="rad",
        markers=MARKERS,
        noise=2e-5 / np.sqrt(2),
    )
    began = time.process_time()
    cal = ec.calibrate(file, data)
    seconds = time.process_time() - began
    seen = cal.predict(shown[poses:], wrench[poses:])
    off = seen.deflection - exact[poses:]
    sd = seen.deflection_half_width / quantile_95(cal.freedom)
    ratio = float(np.sqrt(np.mean(off**2) / np.mean(sd**2)))
    inside = float(np.mean(np.abs(off) <= seen.deflection_half_width))
    return float(np.linalg.norm(off, axis=2).mean()), ratio, inside, seconds


def row(name: str, robots: int) -> str:
    error, ratio, inside, seconds = np.array([trial(*SCENARIOS[name], seed) for seed in range(robots)]).T
    return (
        f"{name}: {robots} robots, error {1e6 * np.median(error):.0f} um (worst {1e6 * error.max():.0f}), "
        f"seen/expected {np.median(ratio):.2f}, coverage {inside.mean():.1%} (least {inside.min():.0%}), "
        f"{seconds.mean():.1f} s"
    )


if __name__ == "__main__":
    for scenario in SCENARIOS:
        print(row(scenario, int(sys.argv[1])), flush=True)
