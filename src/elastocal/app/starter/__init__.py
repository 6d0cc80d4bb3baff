"""What a new cell starts with, made for its robot."""
