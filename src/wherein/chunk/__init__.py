"""A parsed file to chunks and their terms."""
