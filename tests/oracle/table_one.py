"""Table 1 of Klimchik et al. 2013 (MIM) as a file of tracked points."""

from __future__ import annotations

TABLE_1 = """
 -0.01  -31.84  183.86 -872.10 -125.38 -813.50 -255.59
-30    -118.44  143.42 -872.30 -126.07 -813.33 -256.18
-60    -173.30   65.12 -872.50 -109.90 -825.09 -244.64
-90    -181.76  -30.14 -868.43  -78.20 -844.66 -219.04
-120   -141.45 -116.82 -858.90  -47.60 -859.43 -190.44
-145    -78.10 -165.47 -852.53  -33.68 -864.66 -176.01
"""
ROWS = [[float(v) for v in line.split()] for line in TABLE_1.strip().splitlines()]


def points_csv() -> str:
    lines = ["marker,pose,A2_deg,x_mm,y_mm"]
    for k, marker in enumerate(("P1", "P01", "P02")):
        lines += [f"{marker},{i},{r[0]},{r[1 + 2 * k]},{r[2 + 2 * k]}" for i, r in enumerate(ROWS, start=1)]
    return "\n".join(lines) + "\n"
