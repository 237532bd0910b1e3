"""The smallest text, sequence or model that still shows a difference.

Whoever asks says what a difference is; nothing here knows implementations, targets or records.
"""
