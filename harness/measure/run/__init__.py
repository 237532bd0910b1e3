"""The parent's side of a run: from a plan to the records of its folder.

`session` carries out the turns of a plan; `turn` runs the workloads of one process with what `setup` opens, `materials`
writes for the workers and the references expect; `text_memory` tests for caches of whole texts.
"""
