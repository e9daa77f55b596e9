from .family import check_family

__all__ = [
    "check_family",
]
