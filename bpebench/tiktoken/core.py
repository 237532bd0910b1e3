"""`tiktoken.core`: where programs import `Encoding` from."""

from impls.drop_in.tiktoken.encoding import Encoding as Encoding
