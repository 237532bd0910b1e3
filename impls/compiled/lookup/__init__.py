"""Looks up the ids of known pieces: keys, hash tables that grow, and decoding."""
