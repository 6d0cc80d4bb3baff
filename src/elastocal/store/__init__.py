"""The history of robots: calibrations, checks and releases in time, in a database that only grows (extra ``fleet``)."""
