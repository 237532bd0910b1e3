"""The parent's side of a run: from a plan to the records of its folder.

`session` goes through the turns of a plan; `turn` runs the workloads of one process, with what `setup` opens,
`materials` writes for the workers, and `references` says is right; `text_memory` tests for memory of whole texts.
"""
