"""Learns merges: counts pieces, then pairs, then merges the most frequent pair, again and again."""
