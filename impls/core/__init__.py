"""Shared by the implementations: the model, reading of texts, errors, arguments, the user's cache. Runs no
algorithm."""
