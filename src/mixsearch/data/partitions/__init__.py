"""Samples in partitions: runs of consecutive rows, in memory or on a cluster.

Everything that grows with the number of samples stays in its partition. Computations send a function and small arrays
to the partitions and get sums back. In memory there is one partition, or one for each segment of an index. On a cluster
there are many, and the function runs on the worker that stores each of them.
"""

from mixsearch.data.partitions.base import N_GROUPS, Layout, Partitions
from mixsearch.data.partitions.jackknife_groups import (
    group_indices,
    leave_one_out,
    spread_over_groups,
    sums_by_group,
)
from mixsearch.data.partitions.local import partition_in_memory
from mixsearch.data.partitions.partition import BlockPartition, Partition, SamplePartition

__all__ = [
    "N_GROUPS",
    "BlockPartition",
    "Layout",
    "Partition",
    "Partitions",
    "SamplePartition",
    "group_indices",
    "leave_one_out",
    "partition_in_memory",
    "spread_over_groups",
    "sums_by_group",
]
