"""Unicode as the splitting engines know it: which version, and how each of them classes every code point.

Knows implementations; used by checks, by explanations and for the provenance of a measurement.
"""
