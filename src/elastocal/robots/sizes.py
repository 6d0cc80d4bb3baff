"""How heavy and how stiff arms of a size are: data for start values, each with its source.

``ARMS`` are rated payload [kg], reach [m] and mass [kg] of arms that are sold, rounded.  Editions of a data sheet and
variants of an arm differ by some per cent, and sheets were not compared one by one: enough for a power law through all.

``BEYOND`` says which share of an arm's mass lies beyond a joint that has a share s of the whole way to the end still
before it.  ``WIND_UP`` is the angle by which a joint turns under its rated static torque: payload and moving mass on
the lever that is left, never less than ``WRIST`` of the whole.  Both are of one robot, the only one here with published
numbers for every link and joint.
"""

ARMS = (
    ("Fanuc LR Mate 200iD", 7.0, 0.717, 25.0),
    ("KUKA KR 3 R540", 3.0, 0.541, 26.5),
    ("Staubli TX40", 1.7, 0.515, 27.0),
    ("KUKA KR 6 R900", 6.0, 0.901, 52.0),
    ("Staubli TX90", 6.0, 1.0, 111.0),
    ("KUKA KR 5 arc", 5.0, 1.412, 127.0),
    ("KUKA KR 10 R1420", 10.0, 1.42, 160.0),
    ("KUKA KR 16-2", 16.0, 1.611, 235.0),
    ("Fanuc M-20iA", 20.0, 1.811, 250.0),
    ("Fanuc M-710iC/50", 50.0, 2.05, 560.0),
    ("KUKA KR 60-3", 60.0, 2.033, 665.0),
    ("Fanuc R-2000iC/165F", 165.0, 2.655, 1090.0),
    ("KUKA KR 210 R2700", 210.0, 2.696, 1068.0),
    ("KUKA KR 270 R2700", 270.0, 2.696, 1129.0),
    ("KUKA KR 500-3", 500.0, 2.825, 2440.0),
)
SLENDER = (
    ("ABB IRB 1520ID-4/1.5", 4.0, 1.5),
    ("KUKA KR 8 R2100", 8.0, 2.1),
    ("ABB IRB 2600ID-8/2.00", 8.0, 2.0),
    ("Fanuc M-710iC/12L", 12.0, 3.123),
    ("Yaskawa AR3120", 20.0, 3.124),
)
"""Rated payload [kg] and reach [m] of long arms for light work: what an arm of unknown payload may safely carry."""
ARMS_SOURCE = "a power law through payload, reach and mass that makers state of 15 arms of 2 to 500 kg rated payload"

BEYOND = ((0.0, 0.0), (0.024, 0.011), (0.082, 0.033), (0.215, 0.076), (0.49, 0.25), (0.881, 0.461), (1.0, 0.795))
"""Share of the way that is left, share of the whole mass beyond it."""
BEYOND_SOURCE = (
    "shares of the link masses of the KUKA KR 300 R2700-2 (kroshu/kuka_robot_descriptions, "
    "kuka_quantec_support/urdf/kr300_r2700_2_macro.xacro)"
)
CENTRE = 0.35
"""Where the mass beyond a joint acts, as a share of the lever that is left; of the same robot, stretched."""
WRIST = 0.1
"""Least lever of a joint as a share of the reach: a rated load hangs beside the wrist."""

WIND_UP = 2.9e-3
"""In rad; geometric mean of 3.4, 2.1, 5.6, 2.7 and 1.9 mrad at joints 2 to 6, with levers up to the flange."""
WIND_UP_SOURCE = (
    "scaled from the joint compliances of the KUKA KR-270 (Klimchik et al. 2013, MIM, Table 3) so that the rated "
    "static torque winds every gear up by the same 2.9 mrad; right within a factor of about two there"
)
STROKE = 5e-5
"""By how much a slide gives way under its rated force, in m."""
STROKE_SOURCE = (
    "a slide gives way by 0.05 mm under its rated force, as a rack or spindle of ordinary size; not published"
)
