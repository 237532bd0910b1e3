"""tiktoken's `Encoding`, over any implementation of the suite."""

from impls.drop_in.tiktoken.encoding import Encoding, InvalidEncoding

__all__ = ["Encoding", "InvalidEncoding"]
