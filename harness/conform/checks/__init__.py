"""The checks of the conformance kit: the catalogue declares them, a function each judges a target."""
