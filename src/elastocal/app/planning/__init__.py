"""From a plan file or a robot to the files that a plan is measured by."""
