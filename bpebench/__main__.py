"""`python -m bpebench` is the command `bpebench`."""

import sys
from pathlib import Path

# With `-m` the working directory comes first on the path; a folder called `impls` there must not be imported.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from harness.__main__ import main

if __name__ == "__main__":
    main()
