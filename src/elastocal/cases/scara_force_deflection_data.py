"""Virtual dial-gauge readings of the SCARA of Ruggeri et al. (002 section 5.2), from the loaded statics of its model.

Arm stretched along the base's y axis, as printed.  Gripper: joints locked, 12 directions 30 degrees apart, the gauge at
the gripper.  Joint: the other one locked, force across the arm, the gauge at the end of link 2.  Not printed and
assumed here: sizes of the forces, noise, friction, the axis of the largest play, the lever of joint 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from elastocal.procedures.loops.loop import Loop, loop_of

if TYPE_CHECKING:
    import numpy as np

    from elastocal.model.robot import RobotModel
    from elastocal.spatial.entries import Array, Ints

COMPLIANCE = 3.76e-5
BACKLASH = (5.49e-5, 2.05e-4)
JOINTS = {"J1": (3.23e-5, 2.64e-4), "J2": (1.08e-4, 2.68e-4)}
"""Figure 4(d): compliance in rad/(N m) and backlash in rad."""
LEVERS = {"J1": 0.66, "J2": 0.33}
DIRECTIONS_DEG = tuple(range(0, 360, 30))
FORCES = (10.0, 20.0, 30.0, 40.0)
CYCLES = 3
NOISE, DIVISION, FRICTION, SETTING = 2e-6, 1e-6, 8e-6, 2e-5
"""Standard deviation and division of the gauge, half of the friction's hysteresis, spread of the gauge's zero (m)."""


@dataclass(frozen=True, eq=False)
class Experiment:
    """Exact displacements (n,) at forces (n,), by name: a direction in degrees, or a joint."""

    force: Array
    cycle: Ints
    exact: dict[str, Array]

    def read(self, rng: np.random.Generator) -> dict[str, Loop]:
        """What the gauge shows: friction, the zero of each cycle, noise, and its division."""
        import numpy as np

        branch = loop_of(self.force, self.force, self.cycle).branch
        out = {}
        for name, exact in self.exact.items():
            zero = rng.normal(0.0, SETTING, CYCLES)[self.cycle - 1]
            shown = exact - FRICTION * branch + zero + rng.normal(0.0, NOISE, len(exact))
            out[name] = loop_of(self.force, DIVISION * np.round(shown / DIVISION), self.cycle)
        return out


def experiment() -> Experiment:
    import numpy as np

    path = [*FORCES, *FORCES[-2::-1]]
    once = np.array([*path, *(-f for f in path)])
    force, cycle = np.tile(once, CYCLES), np.repeat(np.arange(1, CYCLES + 1, dtype=np.int64), len(once))
    arm = _true_robot()
    exact = {
        str(d): _displacement(_locked(arm, "J1", "J2"), force, np.radians(90 + d), "gripper") for d in DIRECTIONS_DEG
    }
    exact["J1"] = _displacement(_locked(arm, "J2"), force, np.pi, "link2_end")
    exact["J2"] = _displacement(_locked(arm, "J1"), force, np.pi, "link2_end")
    return Experiment(force, cycle, exact)


def _true_robot() -> RobotModel:
    """Figure 4(d); its backlash is the whole gap, that of the elements half of it; the largest along the arm."""
    from elastocal.files.robot.read import read_robot
    from elastocal.model.compliant.gripper_backlash import GripperBacklash

    values = {"gripper.p": COMPLIANCE}
    for joint, (k, gap) in JOINTS.items():
        values |= {f"{joint}.k": k, f"{joint}.gap": gap / 2}
    play = GripperBacklash(frame="gripper", gap=(BACKLASH[1] / 2, BACKLASH[0] / 2, 0.0))
    return read_robot("scara-ruggeri").without("gripper_backlash").with_parameters(values).with_elements(play)


def _locked(arm: RobotModel, *joints: str) -> RobotModel:
    return arm.with_parameters({f"{j}.{symbol}": 0.0 for j in joints for symbol in ("k", "gap")})


def _displacement(model: RobotModel, force: Array, angle: float, frame: str) -> Array:
    """Along the force at the gripper, of a frame of the bent arm against the rigid one (n,)."""
    import numpy as np

    from elastocal.model.loads.wrench import AppliedWrenches
    from elastocal.model.statics.deflection import frame_pose
    from elastocal.model.statics.equilibrium import equilibrium

    unit = np.array([np.cos(angle), np.sin(angle), 0.0])
    wrench = np.column_stack([force[:, None] * unit, np.zeros((len(force), 3))])
    q = np.tile([np.pi / 2, 0.0], (len(force), 1))
    bent = frame_pose(model, q, equilibrium(model, q, [AppliedWrenches("gripper", wrench)]), frame)[0]
    rigid = model.without("link_compliance", "joint_compliance", "joint_backlash", "gripper_backlash")
    return np.asarray(unit @ (bent - frame_pose(rigid, q, equilibrium(rigid, q), frame)[0]))
