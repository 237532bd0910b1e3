"""What several tests of the harness share: a package index of their own."""

from package_index import index, stand_in

__all__ = ["index", "stand_in"]
