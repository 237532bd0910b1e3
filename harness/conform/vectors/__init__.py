"""Test vectors: cases that tell every mutant of a model from a right tokenizer; see VECTORS.md."""
