from .encoding import TableEncoder
from .tables import read_table, write_table

__all__ = ["TableEncoder", "read_table", "write_table"]
