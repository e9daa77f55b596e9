from .component import TableAnswer, describe_members
from .encoding import TableEncoder
from .tables import read_table, write_table

__all__ = [
    "TableAnswer",
    "TableEncoder",
    "describe_members",
    "read_table",
    "write_table",
]
