"""The published contact plan as files, and the actual robot of the document as a robot file."""

from __future__ import annotations

from pathlib import Path

from elastocal.files.robot.read import shipped_robots

DISCS = """\
  - {kind: disc, name: disc1, centre_mm: [-250, 300], radius_mm: 150}
  - {kind: disc, name: disc2, centre_mm: [200, 400], radius_mm: 50}
  - {kind: disc, name: disc3, centre_mm: [50, 250], radius_mm: 80}
"""
ERRORS = "errors:\n  - {kind: force_sensor, sd_N: 0.1}\n  - {kind: encoder, sd_urad: 2}\n"
TRUE = {
    "frame: base, x_mm: 0, y_mm: 0": "frame: base, x_mm: 2.5, y_mm: -2.2",
    "joint: J1, offset_rad: 0": "joint: J1, offset_rad: -1.7e-3",
    "frame: link1_end, x_mm: 0": "frame: link1_end, x_mm: 0.2",
    "joint: J2, offset_rad: 0": "joint: J2, offset_rad: 7.0e-4",
    "frame: link2_end, x_mm: 0": "frame: link2_end, x_mm: -0.2",
    "isotropic_m_per_N: 1.0e-5": "isotropic_m_per_N: 1.1e-5",
    "joint: J1, k_rad_per_Nm: 1.0e-5": "joint: J1, k_rad_per_Nm: 1.1e-5",
    "joint: J2, k_rad_per_Nm: 1.0e-5": "joint: J2, k_rad_per_Nm: 1.1e-5",
    "gap_mm: 0": "gap_mm: 0.095",
    "joint: J1, gap_rad: 0": "joint: J1, gap_rad: 2.9e-4",
    "joint: J2, gap_rad: 0": "joint: J2, gap_rad: 2.9e-4",
}


def plan_text(table: str = "plan.csv", objects: str = DISCS, errors: str = ERRORS, more: str = "") -> str:
    return (
        f"format: elastocal-campaign/1\nname: three discs\nrobot: scara-ruggeri\ntable: {table}\n"
        f"measurement: contact\n{more}objects:\n{objects}{errors}"
    )


def plan_table(levels: tuple[float, ...]) -> str:
    rows = [f"disc{d},{30 * k},{levels[k % len(levels)]}" for d in (1, 2, 3) for k in range(12)]
    return "\n".join(["object,angle_deg,force_N", *rows]) + "\n"


def lay_plan(folder: Path, levels: tuple[float, ...] = (20.0, 40.0), **keys: str) -> Path:
    """Plan and table in a folder, with the actual robot beside them."""
    (folder / "plan.csv").write_text(plan_table(levels))
    (folder / "plan.yaml").write_text(plan_text(**keys))
    (folder / "truth.yaml").write_text(actual_robot())
    return folder / "plan.yaml"


def actual_robot() -> str:
    """The shipped robot file with the values of table 2 of the document."""
    from importlib import resources

    assert "scara-ruggeri" in shipped_robots()
    text = resources.files("elastocal.robots").joinpath("scara-ruggeri.yaml").read_text(encoding="utf-8")
    for old, new in TRUE.items():
        assert old in text, old
        text = text.replace(old, new)
    return text
