"""From a calibrated model to corrected targets and robot programs."""
