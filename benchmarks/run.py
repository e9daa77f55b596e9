"""Run the benchmarks: all of them, or those named."""

from __future__ import annotations

import argparse
import time

import accuracy
import audit
import choices
import cluster
import counting
import filters
import gaussian
import group_shares
import interval_coverage
import marked_documents
import one_example
import passes
import quality
import reading
import refinement
import regression_tables
import scale
import segments
import subspace_tables
import table_files
import tables
import timelines
import topic_sizes
import topics
import trust
import verdict
import web_cost
import web_load
import web_map
import web_memory
import web_points
import web_start
import web_typing
from measuring import N_THREADS, machine
from threadpoolctl import threadpool_limits

BENCHMARKS = {
    "gaussian": gaussian,
    "topics": topics,
    "accuracy": accuracy,
    "choices": choices,
    "refinement": refinement,
    "one_example": one_example,
    "coverage": interval_coverage,
    "audit": audit,
    "counting": counting,
    "trust": trust,
    "tables": tables,
    "table_files": table_files,
    "regression_tables": regression_tables,
    "subspace_tables": subspace_tables,
    "quality": quality,
    "verdict": verdict,
    "topic_sizes": topic_sizes,
    "segments": segments,
    "timelines": timelines,
    "reading": reading,
    "scale": scale,
    "cluster": cluster,
    "passes": passes,
    "filters": filters,
    "group_shares": group_shares,
    "web_cost": web_cost,
    "web_load": web_load,
    "web_typing": web_typing,
    "web_map": web_map,
    "web_memory": web_memory,
    "marked_documents": marked_documents,
    "web_points": web_points,
    "web_start": web_start,
}
# These take minutes or longer, or need other packages: only where they are named.
ON_REQUEST = (
    "group_shares",
    "verdict",
    "topic_sizes",
    "refinement",
    "one_example",
    "coverage",
    "counting",
    "trust",
    "tables",
    "table_files",
    "quality",
    "segments",
    "reading",
    "scale",
    "web_load",
    "web_map",
    "web_points",
    "web_typing",
    "marked_documents",
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "names",
        nargs="*",
        metavar="name",
        help=f"of {', '.join(BENCHMARKS)}; all but those that take minutes by default",
    )
    parser.add_argument("--quick", action="store_true", help="small data: shows that all runs, not how fast")
    parser.add_argument("--seeds", type=int, default=10, help="of the tables of accuracy and refinement")
    options = parser.parse_args()
    unknown = sorted(set(options.names) - set(BENCHMARKS))
    if unknown:
        parser.error(f"no benchmark called {', '.join(unknown)}; there are {', '.join(BENCHMARKS)}")
    with threadpool_limits(N_THREADS):
        print(machine())
    for name in options.names or [name for name in BENCHMARKS if name not in ON_REQUEST]:
        start = time.perf_counter()
        benchmark = BENCHMARKS[name]
        print(f"\n## {name}\n\n{benchmark.__doc__}")
        more = {"seeds": options.seeds} if benchmark in (accuracy, refinement) else {}
        benchmark.run(quick=options.quick, **more)
        print(f"\n({time.perf_counter() - start:.0f} s)", flush=True)


if __name__ == "__main__":
    main()
