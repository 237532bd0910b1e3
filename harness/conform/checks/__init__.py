"""The checks of the conformance kit: the catalogue declares them, and one function each judges a target."""
