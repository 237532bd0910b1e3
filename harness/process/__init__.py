"""The one way to use another process: every question ends with an answer or an outcome, and no process is left behind.

- `session`: ask a program, or a process of ours that calls functions; a process that died is replaced. `pool`: many
  tasks on several of them.
- `protocol`: the wire format, and the server's side of it.
- `child`: a command driven line by line under `limits`; knows nothing of the content of the lines.
- `reaper`: the small process between us and a child that ends the child and all its descendants, however we end.
- `memory`: resident memory of processes.
"""
