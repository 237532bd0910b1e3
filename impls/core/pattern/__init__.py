"""From a pre-tokenization pattern to an automaton: parsing, character classes, determinisation, tables.

Knows regular expressions and Unicode; must not know models, merges or kernels.
"""
