"""What several tests of the harness share: a package index of their own, and the command line."""

from command_line import bpebench
from package_index import index, stand_in

__all__ = ["bpebench", "index", "stand_in"]
