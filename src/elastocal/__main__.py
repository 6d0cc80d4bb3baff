"""``python -m elastocal`` is the command ``elastocal``."""

from elastocal.app.cli import main

if __name__ == "__main__":
    main()
