"""The model: what training learned, as data; what follows from it, and whether it is consistent."""
