"""A robot and a table as files, two campaigns at once, a prior of the user, and draws from the posterior."""

import tempfile
from pathlib import Path

import numpy as np

import elastocal as ec
from elastocal.model.compliant.frame_error import FrameError
from elastocal.model.compliant.joint_offset import JointOffset

robot = ec.read_robot("kuka-kr5").nominal
true = robot.with_elements(JointOffset(joint="A3", offset=1.5e-3), FrameError(frame="A2", x=5e-4))
rng = np.random.default_rng(3)
low, high = np.array([-120, -120, 20, -150, -100, -150]), np.array([120, -40, 120, 150, 100, 150])

with tempfile.TemporaryDirectory() as folder:
    tables = []
    for name in ("monday", "friday"):  # the tracker was moved in between
        q = rng.uniform(low, high, (16, 6)).round(3)
        seen = ec.simulate(true, np.radians(q), noise=2e-5, rng=rng, markers={"ball": [0.1, 0.02, 0.05]})
        rows = np.column_stack([q, 1e3 * seen.position[:, 0] + rng.uniform(-500, 500, 3)])
        tables.append(Path(folder) / f"{name}.csv")
        np.savetxt(tables[-1], rows, delimiter=",", header="A1,A2,A3,A4,A5,A6,x,y,z", comments="")
    both = [ec.read_campaign("kuka-kr5", t, length="mm", angle="deg")[1] for t in tables]

known = ec.Campaign(
    q=both[1].q, position=1e3 * both[1].position, length="mm", angle="deg", markers=both[1].markers, name="friday",
    priors={"A2.x": (4e-4, 1e-4)},
)  # fmt: skip
cal = ec.calibrate(robot, [both[0], known], model="geometry", progress=lambda step: print("...", step))
print(cal)
print("stations:", cal.stations)
print("A2.x:", cal.parameters["A2.x"])
for rung in cal.ladder.rungs:
    print(f"{rung.label:32s} {1e3 * rung.loo:.3f} mm  evidence {rung.evidence:.1f}")

pose = [[0, -90, 90, 0, 30, 0]]
drawn = [c.predict(pose).position[0, 0] for c in cal.drawn(50, rng=1)]
print("a marker by 50 draws, sd in mm:", 1e3 * np.std(drawn, axis=0))
print("half width of its 95 % interval in mm:", 1e3 * cal.predict(pose).half_width[0, 0])
assert set(cal.stations) == {"monday", "friday"}
assert cal.verdict.code == "improved"
