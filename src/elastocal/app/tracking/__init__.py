"""From tracked points to a compensator: its arcs, its spring, its next plan."""
