"""Plan files, the paths and bodies they name, and plans as controller programs."""
