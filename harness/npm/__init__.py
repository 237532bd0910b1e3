"""Tokenizers written in JavaScript, from npm: fetched by digest, served over the line protocol, judged and timed.

They stand apart from the implementations: they run in a process of node's and are timed inside it, by its own clock.
"""
