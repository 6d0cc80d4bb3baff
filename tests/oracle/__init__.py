"""Slow and plain mechanics, one configuration at a time, that the tests trust instead of the code under test."""
