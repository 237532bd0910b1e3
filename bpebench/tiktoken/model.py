"""`tiktoken.model`: the encodings of OpenAI's models."""

from harness.data.encodings import encoding_for_model as encoding_for_model
from harness.data.encodings import encoding_name_for_model as encoding_name_for_model
from harness.data.encodings import encodings_by

MODEL_PREFIX_TO_ENCODING = encodings_by("beginnings")
MODEL_TO_ENCODING = encodings_by("models")
