"""From a text to the input of the merges: patterns, normalisation, bytes as characters, SentencePiece's rules."""
