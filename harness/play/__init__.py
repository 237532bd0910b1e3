"""The playground: one page that runs the tokenizers side by side, and the JSON API behind it, on this machine only.

- `spans`: where in a text each token comes from; `follow`: what an edit changes of them; `steps`: the merge steps of
  one piece. None of them knows the server.
- `messages`: requests and answers as types, and the OpenAPI description made of them.
- `tasks`: what a worker process does; `workers`: those processes; `store`: uploaded and trained models.
- `guard`: who may ask, how much, and how errors look; `app`: the routes; `server`: how it is run.
- `page/`: HTML, style and modules, served as they are. `export`: a view as one file.
"""
