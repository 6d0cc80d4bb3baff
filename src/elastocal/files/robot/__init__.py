"""Robot files: YAML and URDF, in and out."""
