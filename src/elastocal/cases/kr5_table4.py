"""Mass moments of Hayat, Udai and Saha 2013, Table IV: from the virtual log, from eq. (16), and from Table IV."""

from __future__ import annotations

from math import cos, radians, sin
from typing import TYPE_CHECKING

from elastocal.cases.case import Figure, Why

if TYPE_CHECKING:
    from elastocal.procedures.gravity.terms import Term

G = 9.81
TABLE_4 = {"A5": (11.47, 1.169, 4.90, 0.499), "A3": (89.49, 8.612, 88.86, 9.058), "A2": (375.70, 38.297, 0.0, 0.0)}
"""m d_x g, m d_x, m d_y g, m d_y as printed."""
IN_LOG = {"A5": (11.47, 4.90), "A3": (126.28 * cos(radians(44.85)), 126.28 * sin(radians(44.85))), "A2": (375.70, 0.0)}
"""m d_x g and m d_y g that eq. (15)-(17) put into the log."""
SINE = {"A5": 1, "A3": -1, "A2": 1}
"""Signs that the sines have in eq. (15)-(17); Table IV prints sizes without them."""
_LAST = {"N m": 0.01, "kg m": 0.001}
_MISPRINT = {
    "m3_dx": "; 8.612 is a misprint of 9.122 = 89.49 / 9.81, and eq. (16) itself gives 89.53 / 9.81 = 9.126",
    "m3_dx_g": "; eq. (16) itself gives 89.53",
    "m3_dy_g": "; eq. (16) itself gives 89.06",
    "m3_dy": "; eq. (16) itself gives 89.06 / 9.81 = 9.078",
}


def moments(terms: dict[str, Term]) -> tuple[Figure, ...]:
    """Of every link by what the log gives, then what follows from print alone."""
    out = []
    for joint, printed in TABLE_4.items():
        t, link = terms[joint], joint[1]
        sine = SINE[joint] * t.sine
        found = (-t.cosine, -t.cosine / G, sine, sine / G)
        x, y = IN_LOG[joint]
        truth = (x, x / G, y, y / G)
        names = (f"m{link}_dx_g", f"m{link}_dx", f"m{link}_dy_g", f"m{link}_dy")
        for name, published, value, put_in, unit in zip(names, printed, found, truth, ("N m", "kg m") * 2, strict=True):
            sign = (
                f"; the sign of eq. (15)-(17), {'+' if SINE[joint] > 0 else '-'} sin, taken off"
                if "_dy" in name
                else ""
            )
            why = Why.CONTRADICTION if joint == "A3" else Why.VIRTUAL
            note = f"from the log, which eq. (15)-(17) have made{sign}{_MISPRINT.get(name, '')}"
            out.append(Figure(name, published, value, unit, note, "Table IV", why, _LAST[unit], put_in=put_in))
    x, y = IN_LOG["A3"]
    return (
        *out,
        *_divided(),
        *(
            Figure(name, printed, value, "N m", note, "Table IV", Why.CONTRADICTION)
            for name, printed, value, note in (
                ("m3_dx_g_resolved", 89.49, x, "126.28 cos 44.85 deg of eq. (16)"),
                ("m3_dy_g_resolved", 88.86, y, "126.28 sin 44.85 deg of eq. (16)"),
            )
        ),
    )


def _divided() -> list[Figure]:
    """Mass moments of Table IV from the torques beside them, within the digits of these or not."""
    out = []
    for joint, (x, dx, y, dy) in TABLE_4.items():
        for axis, torque, printed in (("dx", x, dx), ("dy", y, dy)):
            if torque == 0.0:
                continue
            room = abs(torque / G - printed) <= (_LAST["N m"] / G + _LAST["kg m"]) / 2
            note = f"{torque:.2f} N m divided by {G}{'' if room else f'; {printed} is a misprint'}"
            why = Why.ROUNDING if room else Why.CONTRADICTION
            name = f"m{joint[1]}_{axis}_printed"
            out.append(Figure(name, printed, torque / G, "kg m", note, "Table IV", why, _LAST["kg m"]))
    return out
