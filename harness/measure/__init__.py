"""Timing, memory and compression: workloads, schedule, worker processes, statistics, provenance.

From a workload to a record: `templates` reads the `workloads`, `schedule` puts the turns of a plan in order; the room
`run` goes through them and has functions called in processes (`worker`); the room `jobs` is what is called there, on
what `protocol` defines; `recording` keeps a run's folder; the room `analysis` decides what may be claimed of it.
Nothing here parses a command line, prints, or knows a table.
"""
