"""Files of tables and texts: which format they have, and what they hold."""
