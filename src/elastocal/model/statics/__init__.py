"""How the robot bends: forces, tangent, equilibrium, deflection, stiffness, observation matrices."""
