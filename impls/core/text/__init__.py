"""From text to what is merged: patterns, normalisation, bytes as characters, SentencePiece's rules."""
