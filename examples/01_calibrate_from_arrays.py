"""Calibrate a robot from arrays: joint values in degrees, points of a laser tracker in millimetres.

The readings are simulated, so that the script runs anywhere: the zero positions of the simulated (true) robot are off.
With data of your own, read ``q`` and ``xyz`` from your files and leave out everything before ``calibrate``.
"""

import numpy as np

import elastocal as ec

rng = np.random.default_rng(1)
robot = ec.read_robot("fanuc-m710ic50").nominal  # or ec.read_robot("my_robot.urdf", tool="flange")

# simulate: 30 poses, one reflector, a tracker in an arbitrary place
q = rng.uniform(-60, 60, size=(30, 6))
true = q + np.array([0.0, 0.05, -0.10, 0.08, 0.03, 0.0])
pose = robot.kinematics(robot.controller.to_joints(np.radians(true)))
base = pose.position + pose.rotation @ [0.10, 0.02, 0.05]
xyz = 1000 * base[:, [1, 2, 0]] + [3000, -500, 1200] + rng.normal(scale=0.03, size=(30, 3))

# calibrate: nothing but robot, joint values and points
data = ec.Campaign(q=q, position=xyz, length="mm", angle="deg")
cal = ec.calibrate(robot, data)
print(cal)

# predict: positions in metres in the frame of the tracker, with 95 % intervals
home = cal.predict([[0, 0, 0, 0, -90, 0]])
print("home pose [mm]:", (1000 * home.position[0, 0]).round(3), "+-", (1000 * home.half_width[0, 0]).round(3))

# parameters with their standard deviations
for name in ("J3.offset", "J4.offset"):
    p = cal.parameters[name]
    print(f"{name} = {p.value:.6f} +- {p.sd:.6f} {p.unit}")
