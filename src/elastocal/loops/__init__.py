"""Force-deflection loops: compliance, backlash and hysteresis of each direction, and of all directions together."""
