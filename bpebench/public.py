"""The names that `import bpebench` offers, each imported from its module when the first of them is used."""

from bpebench.front_door import load as load
from bpebench.front_door import read_records as read_records
from bpebench.front_door import train as train
from harness.data import load_corpus as load_corpus
from harness.data import load_model as load_model
from harness.data.encodings import encoding_for_model as encoding_for_model
from harness.data.encodings import encoding_name_for_model as encoding_name_for_model
from harness.data.encodings import get_encoding as get_encoding
from harness.data.encodings import list_encoding_names as list_encoding_names
from impls import BPEError as BPEError
from impls import Model as Model
from impls import Tokenizer as Tokenizer
from impls import TrainingSpec as TrainingSpec
from impls import train_parity_aware as train_parity_aware
from impls.drop_in.tiktoken import Encoding as Encoding
