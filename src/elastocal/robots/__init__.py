"""Shipped robots: one YAML file each, every number with its source."""
