"""What a compensation needs beside the program: model, frames, loads, checks."""
