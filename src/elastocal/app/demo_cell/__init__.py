"""The cell of the demonstration: a KR-270 that is not quite what its file says, and a contour to mill."""
