"""Shared by the implementations: the model, how text is read, errors, arguments, the user's cache. Runs no
algorithm."""
