"""How the shipped model and ranking weights were made; not part of the wheel."""
