"""tiktoken's `Encoding` and `load`, over any implementation of the suite."""

from impls.drop_in.tiktoken import load
from impls.drop_in.tiktoken.encoding import Encoding, InvalidEncoding

__all__ = ["Encoding", "InvalidEncoding", "load"]
