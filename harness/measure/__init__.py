"""Timing, memory and compression: workloads, openings and rounds, statistics, provenance.

From a workload to a record: `workloads` reads the workload files; `run` decides who takes part in which opening;
`opening` gives one pass to each contestant in turn; `turns` asks for a pass, judges every answer (`harness.judge`) and
fills in the record; `worker` is the side in the other process. `summary` says what the records show. Nothing here
parses a command line, prints, or knows a table.
"""
