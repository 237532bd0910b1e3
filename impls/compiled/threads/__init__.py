"""Decides which context and which thread a call uses, and shares a batch among threads."""
