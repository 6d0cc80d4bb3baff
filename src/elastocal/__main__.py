"""``python -m elastocal`` is the command ``elastocal``."""

from elastocal.app.cli.main import main

if __name__ == "__main__":
    main()
