"""The command `bpebench`, also as `python -m harness`."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command; an interruption is one line, also while modules are still imported."""
    try:
        from harness.cli import main as run

        run()
    except KeyboardInterrupt:
        print("bpebench: interrupted", file=sys.stderr)
        sys.exit(130)


if __name__ == "__main__":
    main()
