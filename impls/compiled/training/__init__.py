"""Learning merges: counting pieces, then pairs, then merging the most frequent one."""
