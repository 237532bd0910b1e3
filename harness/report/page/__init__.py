"""Pages of HTML, each one file with everything in it."""
