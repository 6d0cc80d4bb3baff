"""What is wrong with readings.  One file is one source of error, found by walking this folder."""
