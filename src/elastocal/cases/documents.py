"""Every table, figure and number that the five documents print as a result: which case recomputes or redraws it, or
why none can.  Formulas without numbers are in the theory, not here."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Item:
    """``case`` is empty where nothing can be recomputed; ``said`` is what is done with it, or why nothing is."""

    document: str
    item: str
    case: str
    said: str


_MIM = "Klimchik et al. 2013 (MIM)"
_IMECE = "Klimchik et al. 2013 (IMECE)"
_KR5 = "Hayat et al. 2013 (iNaCoMM)"
_SCARA = "Ruggeri et al."
_COURSE = "Course report, cylindrical robot"

ITEMS = (
    Item(_MIM, "Table 1", "kr270-compensator", "the input: six angles, three points each"),
    Item(_MIM, "Table 2", "kr270-compensator", "recomputed from Table 1"),
    Item(_MIM, "Table 3", "kr270-compensator", "only results are printed: a virtual experiment with them as truth"),
    Item(_MIM, "Table 3, accuracies", "design", "expected accuracies of random and of planned poses"),
    Item(_MIM, "Fig. 1", "", "a photograph"),
    Item(_MIM, "Figs. 2 and 3", "kr270-compensator", "drawings; redrawn with the points of Table 1 and fitted arcs"),
    Item(_MIM, "Fig. 4", "kr270-compensator", "redrawn; its preloads are not printed, those here are chosen"),
    Item(_MIM, "Fig. 5", "kr270-compensator",
         "redrawn with the geometry fitted to Table 1 and k_2, k_c, s_0 of Table 3, beside chosen preloads"),
    Item(_MIM, "405 equations, section 6", "kr270-compensator", "recomputed, with three markers as in IMECE"),
    Item(_KR5, "Tables I and II", "kr5-transmission", "the input; two numbers of them contradict all others"),
    Item(_KR5, "eq. (4), (6), (9)", "kr5-transmission", "recomputed by the document's rules and by a robust fit"),
    Item(_KR5, "Figs. 1-6 and 8", "", "photographs, drawings and a flow chart"),
    Item(_KR5, "Table III, Fig. 7", "kr5-gravity", "no log is published: a virtual one of the same motions is drawn"),
    Item(_KR5, "eq. (15)-(17), Table IV", "kr5-gravity",
         "put into the virtual log and found again; Table IV recomputed from itself and from eq. (16)"),
    Item(_KR5, "Table V, Fig. 9", "kr5-gravity", "the motion with a virtual log, redrawn"),
    Item(_SCARA, "Table 1", "scara-contact", "the twelve parameters, all sought"),
    Item(_SCARA, "Figs. 1 and 2", "scara-contact", "drawings; the touched discs are redrawn before and after"),
    Item(_SCARA, "Fig. 3", "scara-contact", "error index against iterations, redrawn with the end value printed"),
    Item(_SCARA, "Table 2", "scara-contact",
         "its actual values are put in and come back; its column with noise is one draw, against the rms of many"),
    Item(_SCARA, "30 iterations, 1.25 to 1.35 N, section 5.1", "scara-contact",
         "iterations by another search; the noise is not printed and was chosen to give this e_f"),
    Item(_SCARA, "Fig. 4(a)-(c)", "scara-force-deflection",
         "readings are not published: virtual loops made of the values in (d), redrawn"),
    Item(_SCARA, "Fig. 4(d)", "scara-force-deflection", "put in, and found again from the virtual loops"),
    Item(_IMECE, "Figs. 1-4", "", "drawings and photographs"),
    Item(_IMECE, "eq. (15), (18)", "orthoglide-link", "recomputed"),
    Item(_IMECE, "eq. (16), (17), (25)", "orthoglide-link",
         "one draw of noise that is not published: ratios and errors from print, and many draws"),
    Item(_IMECE, "2 % and 1.67 %, 9 and 27 of 36, ratio 50, section 3.2", "orthoglide-link", "recomputed"),
    Item(_IMECE, "0.01 %, section 3.2", "", "the smallest error: (15) and (16) have three digits, too few to form it"),
    Item(_IMECE, "noise 100 times smaller, section 3.2", "orthoglide-link",
         "no number is printed; the ratio of k11 at that noise is computed"),
    Item(_IMECE, "0.4 %, 4 and 4.5 times, section 4.2", "orthoglide-link",
         "recomputed from (15) and (25), and from many draws"),
    Item(_IMECE, "model sizes, sections 3-5", "kr270-elastostatic", "recomputed; ranks beside the document's counts"),
    Item(_IMECE, "Table 1", "kr270-elastostatic",
         "the same values as Table 3 of Klimchik et al. 2013 (MIM); accuracies of a virtual experiment"),
    Item(_IMECE, "95 % and 0.1 mm, section 5", "kr270-milling",
         "part, forces and measurements are not published: a contour milled by a virtual robot"),
    Item(_COURSE, "Fig. 1", "", "a drawing"),
    Item(_COURSE, "Figs. 2-6", "cylindrical", "path and stiffnesses are not printed: redrawn for chosen ones"),
    Item(_COURSE, "4.21, 14.18 and 0.66 mm, section 4.1", "cylindrical",
         "path and stiffnesses are not printed: sizes only, for chosen ones"),
    Item(_COURSE, "no error after calibration, section 4.1", "cylindrical", "holds for the chosen robot and path too"),
    Item(_COURSE, "table in section 4.2", "cylindrical", "the same noise, 200 draws each instead of one; sizes only"),
)  # fmt: skip
