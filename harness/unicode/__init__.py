"""Unicode as the splitting engines know it: which version, and how each of them classifies every code point.

Knows implementations; used by checks, explanations and the provenance of measurements.
"""
