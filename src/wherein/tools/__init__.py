"""One function for each tool, and the registry the faces are built from."""
