"""The conformance kit: is a tokenizer, written by anybody in any language, the tokenizer it claims to be?

A target always runs in a process of its own, driven over the line protocol of PROTOCOL.md.
"""
