"""Merges a piece that no table holds: which merges a model has, and the order in which they are applied."""
