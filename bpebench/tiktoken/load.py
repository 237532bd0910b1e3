"""`tiktoken.load`: files of ranks."""

from impls.drop_in.tiktoken.load import *  # noqa: F403
