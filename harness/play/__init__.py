"""The playground: one page that runs the tokenizers side by side, and the JSON API behind it, on this machine only.

- `spans`: where in a text each token comes from; `steps`: the merge steps of one piece. Neither knows the server.
- `messages`: requests and answers as types.
- `tasks`: what a worker process does; `workers`: those processes; `store`: uploaded and trained models.
- `guard`: access control, size limits and the form of errors; `app`: the routes.
- `page/`: HTML, style and modules, served unchanged.
"""
