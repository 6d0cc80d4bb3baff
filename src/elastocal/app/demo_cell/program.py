"""A contour in KRL: a rectangle of 500 mm x 300 mm with rounded corners, milled by a spindle that points down."""

from __future__ import annotations

NAME = "contour.src"
SIZE, CORNER, DEPTH, CLEAR = (500.0, 300.0), 60.0, -5.0, 40.0
"""In mm, in the base of the part."""
PART = "X 1600,Y -150,Z 800,A 0,B 0,C 0"
SPINDLE = "X 200,Y 100,Z 0,A 0,B 90,C 0"
MILLING = "kc_MPa=1800,ap_mm=5,ae_mm=10,D_mm=20,teeth=4,spindle_rpm=1200,feed_mm_min=1200,radial=0.6,axial=0.3"
_START = "A1 0,A2 -70,A3 90,A4 0,A5 70,A6 -180"


def program_text() -> str:
    return "\r\n".join([*_head(), *_contour(), *_tail()]) + "\r\n"


def cutting_lines() -> str:
    """First and last line of the contour, as ``--load-lines`` takes them."""
    first = len(_head()) + 1
    return f"{first}-{first + len(_contour()) - 1}"


def _head() -> list[str]:
    return [
        "DEF CONTOUR( )",
        "; a contour of 500 mm x 300 mm, spindle down",
        f"$BASE={{{PART}}}",
        f"$TOOL={{{SPINDLE}}}",
        "$VEL.CP=0.02",
        f"PTP {{{_START}}}",
        f"LIN {_at(CORNER, 0, CLEAR)}",
    ]


def _contour() -> list[str]:
    (x, y), r = SIZE, CORNER
    turn = r * (1 - 0.5**0.5)
    return [
        f"LIN {_at(r, 0)}",
        f"LIN {_at(x - r, 0)}",
        f"CIRC {_at(x - turn, turn)},{_at(x, r)}",
        f"LIN {_at(x, y - r)}",
        f"CIRC {_at(x - turn, y - turn)},{_at(x - r, y)}",
        f"LIN {_at(r, y)}",
        f"CIRC {_at(turn, y - turn)},{_at(0, y - r)}",
        f"LIN {_at(0, r)}",
        f"CIRC {_at(turn, turn)},{_at(r, 0)}",
    ]


def _tail() -> list[str]:
    return [f"LIN {_at(CORNER, 0, CLEAR)}", f"PTP {{{_START}}}", "END"]


def _at(x: float, y: float, z: float = DEPTH) -> str:
    return f"{{X {x:.3f},Y {y:.3f},Z {z:.3f},A 0.000,B 0.000,C 180.000}}"
