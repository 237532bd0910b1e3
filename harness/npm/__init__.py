"""Tokenizers written in JavaScript, from npm: fetched by digest, served over the line protocol, judged and timed.

They are separate from the implementations: they run in a node process and are timed inside it, by its clock.
"""
