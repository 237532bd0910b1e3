"""Ids of pieces that were met before: keys, hash tables that grow, and decoding."""
