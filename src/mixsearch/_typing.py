"""Type aliases that every layer shares."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy.typing as npt

if TYPE_CHECKING:
    import scipy.sparse as sp
    from scipy.sparse.linalg import LinearOperator

Array = npt.NDArray[Any]


# Text, since sparse arrays take no subscript at run time before SciPy 1.16.
Sparse: TypeAlias = "sp.csr_array[Any] | sp.csc_array[Any]"


Samples: TypeAlias = "Array | Sparse"


Matrix: TypeAlias = "Array | LinearOperator"
# What users pass as samples: anything that converts to an array, or a sparse matrix.
SamplesLike: TypeAlias = "npt.ArrayLike | sp.sparray | sp.spmatrix"
# A table: an array, a DataFrame of pandas or Polars, a pyarrow.Table, or a mapping from names to columns.
TableLike: TypeAlias = Any
# Of pandas or Polars, neither of which is needed.
DataFrame: TypeAlias = Any
# A graph: its adjacency matrix, dense or sparse, a data frame of links, or a graph of networkx.
GraphLike: TypeAlias = Any
