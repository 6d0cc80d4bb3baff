"""From readings to a robot that predicts: campaign -> Calibration."""
