"""Corpora, vocabularies and generated texts: declared, fetched, verified, cached."""
