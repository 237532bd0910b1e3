"""The static site: plain files made of all recorded runs, which need no server, no network and no script to be read."""
