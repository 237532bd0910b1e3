"""Hugging Face's `tokenizers.Tokenizer`, and what belongs to it, over any implementation of the suite.

    tokenizer = Tokenizer.from_file("tokenizer.json", implementation="priority")
    tokenizer.encode("a text", "and its pair").offsets

The ids come from the implementation; special tokens, offsets, words, truncation, templates and padding follow the
library, version 0.23. `transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer)` runs on it: it checks no type,
sets a `TemplateProcessing` of the library's own, and copies and saves the tokenizer.

Not provided; each raises an error that names it:

* Setting `model` or one of its settings, and its methods. Changing a part in place (`pre_tokenizer.split = False`) and
  the items of one (`normalizer[0]`): a part is set as a whole. Parts that are Python code: a tokenizer is what a
  tokenizer.json can hold.
* `continuing_subword_prefix`. In training, what `training.py` refuses: affixes, a limit of the alphabet, for a model
  over bytes an alphabet without all 256, for one over characters `max_token_length`, tokens added before training,
  trainers other than `BpeTrainer`. No merge makes the text of a special token.
* WordPiece, WordLevel, Unigram: this is byte pair encoding only. Dropout: a warning says that it is left out.
* The normalizers `BertNormalizer` and `ByteLevel`, the pre-tokenizers `UnicodeScripts` and `FixedLength`, the decoders
  `CTC` and `WordPiece`: they belong to other models. A `Metaspace` with another mark than `▁`, or after another step;
  whatever else the reader of a tokenizer.json refuses.
* Names of the hub without an owner: `from_pretrained("openai-community/gpt2")`, not `from_pretrained("gpt2")`.
* What the library itself does only with its own classes, where it raises the error: a `ParityBpeTrainer` trains its own
  `Tokenizer`, and `special_tokens` of a trainer are its own `AddedToken`. A part is not an instance of its classes:
  `isinstance(tokenizer.model, models.BPE)` is False.
* The `async_` calls and `Encoding.words`, for which there is another way. `not_provided.toml` lists every name, and
  `../README.md` what each class provides.

Different on purpose: `repr` is short, and errors have their own wording. Where the library panics (a stride that leaves
no room, tokens that overlap), an ordinary exception is raised, or the text is encoded. A character without a token
raises `UnknownSymbol`; the library drops it. Unknown options are ignored with a warning, not a line on standard output.
Of several added tokens with the same normal form the first is found; the library finds any of them. One whose normal
form is empty is not found; the library finds it between all characters. A `DecodeStream` is never late and repeats
nothing. `TOKENIZERS_PARALLELISM` is not read: batches are encoded on one thread, so that a forked process never waits
for another's. A `Split` that compares letters without case has İ and ı for `i`, and only `ss`, `st`, `ff` themselves,
where the library has ß and ligatures too; the published patterns have no such letters.
"""

from __future__ import annotations

from typing import Never

from impls.drop_in.hf.added_tokens import AddedToken
from impls.drop_in.hf.encoding import Encoding
from impls.drop_in.hf.not_provided import NotProvided, refuse
from impls.drop_in.hf.tokenizer import DecodeStream, Tokenizer
from impls.drop_in.hf.truncation import TruncationError

__all__ = ["AddedToken", "DecodeStream", "Encoding", "NotProvided", "Tokenizer", "TruncationError"]


def __getattr__(name: str) -> Never:
    refuse("module", name)
