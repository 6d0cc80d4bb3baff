"""The weight of an arm from its controller's log: sign, friction, mass moments, the torque to hold it anywhere."""
