"""Ids of a piece no table holds: which merges there are, and the order they are made in."""
