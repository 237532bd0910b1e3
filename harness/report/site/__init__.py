"""The static site: plain files made of all recorded runs, readable without a server, a network or scripts."""
