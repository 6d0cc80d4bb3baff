"""Calibration by touching known objects (002): from a plan of contacts to what a fit of them is worth.

Order of the procedure: where to touch and how hard, and what a simulated robot reads of it (``plan``), whether such
contacts resolve what is sought (``accuracy``) and the cheapest change of plan that does (``repair``); then, beside the
calibration itself (``calibrate``; it starts from contacts read as lengths, without contacts and objects that do not
belong, ``reduction.contact_gaps`` and ``reduction.contact_outliers``), force error and estimates that stand for
combinations (``judgement``), the picture (``scene``).  ``kinetostatics`` leads from drives to pose and force and back.
"""
