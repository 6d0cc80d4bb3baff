"""From encoder counts, motor angles and joint values to the coupling of motors and joints (001 eq. 1-9)."""
