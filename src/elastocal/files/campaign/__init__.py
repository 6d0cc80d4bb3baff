"""Campaign files of markers, and the tables they name."""
