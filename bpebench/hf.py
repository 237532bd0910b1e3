"""Hugging Face's `tokenizers` over our implementations: this module is `impls.drop_in.hf`, with models of the hub."""

import sys

from harness.data.hub import PREFIX, hub_tokenizer_file
from impls.drop_in import hf
from impls.drop_in.hf import *  # noqa: F403

hf.Tokenizer.find_on_hub = lambda name, revision, token: hub_tokenizer_file(PREFIX + name, revision, token)
sys.modules[__name__] = hf
