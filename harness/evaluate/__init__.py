"""What a text costs under a vocabulary, in every language: metrics over documents, with intervals. Nothing is timed.

Documents are streamed in batches: `texts` reads and segments a batch once, `tally` adds up each model's counts,
`metrics` turns sums into figures, `run` compares models and languages, `output` writes. `sweep` learns vocabularies and
truncates them to sizes. Ids come from the fastest exact implementation, whatever its algorithm.
"""
