"""What a worker does for a job: `prepared` reads its texts and binds the call, `timing` times it, `judge` verifies it.

`measured` combines these for most jobs, `long_runs` for effects that show over time, `recall` for the test of caches of
whole texts. Runs in worker processes; knows nothing of plans, records and other processes.
"""
