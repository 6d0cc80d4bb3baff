"""A campaign with wrong readings: they are left out, named, and every accuracy is given with and without them."""

import numpy as np

import elastocal as ec

rng = np.random.default_rng(2)
robot = ec.read_robot("kuka-kr270").nominal
q = rng.uniform(-1, 1, size=(30, 6))
pose = robot.kinematics(q + np.array([0, 1e-3, -2e-3, 0, 1e-3, 0]))
markers = np.array([[0.1, 0.0, 0.0], [0.0, 0.1, 0.05]])
points = pose.position[:, None] + np.einsum("nij,mj->nmi", pose.rotation, markers)
points += rng.normal(scale=3e-5, size=points.shape)

points[4, 1] += [0.004, -0.002, 0.003]  # a marker was covered
points[17] += 0.010  # the robot stood elsewhere
points[22, 0] = np.nan  # not read

data = ec.Campaign(q=q, position=points, length="m", angle="rad", markers=["left", "right"])
cal = ec.calibrate(robot, data, ["geometry"])

for o in cal.outliers:
    print(f"{o.place}, marker {o.marker or 'all'}, axis {o.axis or 'all'}: {o.deviations:.0f} sd")
for w in cal.warnings:
    print(f"{w.code}: {w.text}")
print("leave-one-out error without them:", cal.leave_one_out.text())
print("leave-one-out error with them:   ", cal.leave_one_out_all.text())
