"""How answers look: plots and their fonts."""
