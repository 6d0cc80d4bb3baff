"""Calibration by contact against the straightforward way, and many contacts at once with bounded memory."""

from __future__ import annotations

import numpy as np

from benchmarks import contact_plain as plain
from benchmarks.harness import Contender, Outcome, race
from benchmarks.memory import growth
from elastocal.files.robot.read import read_robot
from elastocal.measure.contacts import ContactForce
from elastocal.measure.measured import Measured
from elastocal.model.robot import Robot
from elastocal.model.statics.contact import ContactState, contact
from elastocal.model.surfaces.disc import Disc
from elastocal.model.surfaces.surface import Touches
from elastocal.procedures.contact.gaps import close_gaps
from elastocal.procedures.contact.plan import ContactPlan, as_measurement

NAMES = ("base.x", "base.y", "J1.offset", "link1_end.x", "J2.offset", "link2_end.x", "gripper.p", "J1.k", "J2.k",
         "gripper.gap", "J1.gap", "J2.gap")  # fmt: skip
LENGTHS = np.array([0, 0, 0, 0.33, 0, 0.33] + [0] * 6)
NEEDED, MANY, FEW, REPEATS = 100.0, 100_000, 300, 3


def measure() -> list[Outcome]:
    return [_identification(), _solves()]


def robot() -> Robot:
    values = zip(NAMES, plain.ACTUAL - LENGTHS, strict=True)
    return read_robot("scara-ruggeri").with_parameters({n: float(v) for n, v in values})


def contacts(count: int) -> ContactForce:
    """``count`` contacts around three discs, pressed with 20 N and 40 N in turn."""
    discs = tuple(Disc(name=f"disc{i}", centre=(x, y), radius=r) for i, (x, y, r) in enumerate(plain.DISCS, 1))
    which = np.arange(count) % 3
    angle = 2 * np.pi * (np.arange(count) // 3) * 3 / count
    normal = np.column_stack([np.cos(angle), np.sin(angle), np.zeros(count)])
    points = np.column_stack([plain.DISCS[which, :2], np.zeros(count)]) + plain.DISCS[which, 2:] * normal
    sizes = np.where(np.arange(count) // 3 % 2 == 0, 20.0, 40.0)
    plan = ContactPlan(Touches("gripper", discs, which), points, sizes, "xy")
    return as_measurement(robot(), plan, np.tile(np.radians([20.0, 100.0]), (count, 1)))[0]


def identified(nominal: Robot, kind: ContactForce, felt: np.ndarray) -> np.ndarray:
    """The search that ``elastocal calibrate`` runs on contacts; a new campaign remembers nothing."""
    campaign = Measured(ContactForce(kind.q, kind.touches, kind.axes), felt)
    return close_gaps(nominal, campaign, NAMES).values(NAMES)


def _identification() -> Outcome:
    kind = contacts(36)
    felt, which = kind.predict(robot()), kind.touches.which
    nominal = read_robot("scara-ruggeri")

    def ours() -> np.ndarray:
        for _ in range(REPEATS):
            found = identified(nominal, kind, felt)
        return found + LENGTHS

    def theirs() -> np.ndarray:
        return plain.identify(kind.q, felt, which, plain.NOMINAL)

    off = float(np.max(np.abs(ours() / theirs() - 1)))
    if off > 1e-7:
        raise AssertionError(f"the two ways differ by {off:.1g} relative")
    facts = (f"largest relative difference of the twelve parameters: {off:.1g}", "both start from nominal values")
    contenders = [
        Contender("elastocal, contacts read as gaps", REPEATS, ours),
        Contender("one root find per contact in scipy least_squares", 1, theirs, NEEDED),
    ]
    return race("12 parameters of a SCARA from 36 contacts with three discs", contenders, 5, facts)


def _solves() -> Outcome:
    few, model = contacts(FEW), robot()
    rows = np.arange(MANY) % FEW
    q, touches = few.q[rows], few.touches.rows(rows)

    def batch() -> ContactState:
        return contact(model, q, touches)

    def one_by_one() -> object:
        values = plain.ACTUAL
        return [plain.felt(values, q, plain.DISCS[i]) for q, i in zip(few.q, few.touches.which, strict=True)]

    grown = {n: growth("contact", n) for n in (20_000, MANY)}
    per = (grown[MANY] - grown[20_000]) / (MANY - 20_000) * 1e6
    facts = (
        ", ".join(f"{n} {word.replace('_', ' ')}" for word, n in batch().counts().items()),
        f"memory: {grown[20_000]:.0f} MB for 20 000 contacts, {grown[MANY]:.0f} MB for {MANY}: {per:.0f} bytes each, "
        "which is what is returned",
    )
    contenders = [
        Contender("elastocal, one batch", MANY, batch),
        Contender("one root find each", FEW, one_by_one, 20.0),
    ]
    return race(f"{MANY} contacts", contenders, 2, facts)
