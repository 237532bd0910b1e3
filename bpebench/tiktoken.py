"""`tiktoken` over our implementations: this module is `impls.drop_in.tiktoken`, with the encodings known by name.

`sys.modules["tiktoken"] = bpebench.tiktoken` puts it into a program, whose `from tiktoken.load import …` works too.
"""

import sys

from harness.data import encodings
from impls.drop_in import tiktoken
from impls.drop_in.tiktoken import *  # noqa: F403

for name in ("encoding_for_model", "encoding_name_for_model", "get_encoding", "list_encoding_names"):
    setattr(tiktoken, name, getattr(encodings, name))
sys.modules[__name__] = tiktoken
