"""`tiktoken` over our implementations: its names and modules, with the encodings known by name.

`sys.modules["tiktoken"] = bpebench.tiktoken` puts it into a program, whose `from tiktoken.load import …` works too.
`__version__` is the release whose behaviour this has.
"""

from bpebench.tiktoken import load as load
from bpebench.tiktoken.core import Encoding as Encoding
from bpebench.tiktoken.model import encoding_for_model as encoding_for_model
from bpebench.tiktoken.model import encoding_name_for_model as encoding_name_for_model
from bpebench.tiktoken.registry import get_encoding as get_encoding
from bpebench.tiktoken.registry import list_encoding_names as list_encoding_names
from impls.drop_in.tiktoken import InvalidEncoding as InvalidEncoding

__version__ = "0.14.0"
