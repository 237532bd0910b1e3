"""`tiktoken.registry`: encodings by name; plug-ins in `tiktoken_ext` are not read."""

from harness.data.encodings import get_encoding as get_encoding
from harness.data.encodings import list_encoding_names as list_encoding_names
