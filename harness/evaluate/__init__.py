"""What a text costs under a vocabulary, in every language: metrics over documents, with intervals. Times nothing.

Documents are streamed in batches: `texts` reads and segments a batch once, `tally` adds up what each model makes of it,
`metrics` turns sums into figures, `parallel` compares languages, `output` writes. `sweep` learns vocabularies and cuts
them to sizes. It counts by the ids of the fastest exact implementation and knows no algorithm.
"""
