"""Timing, memory and compression: workloads, schedule, worker processes, statistics, provenance.

From a workload to a record: `templates` reads the `workloads` and `schedule` orders the turns of a plan. The package
`run` carries them out, calling functions in worker processes (`worker`); the package `jobs` holds these functions, with
the messages of `protocol`. `recording` keeps a run's folder, and the package `analysis` decides which claims it
supports. Nothing here parses a command line, prints, or knows a table.
"""
