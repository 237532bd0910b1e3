"""Hugging Face's tokenizer.json: byte-level BPE, and BPE over the characters of the text.

`reader` and `writer` convert the file, `columns` reads a long one by the kernels of `compiled`, `split_stages` its
pre_tokenizer, `space_steps` its normalizer and steps for white space, `oniguruma` the dialect of its patterns.
"""
