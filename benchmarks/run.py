"""Run the benchmarks: all of them, or those named."""

from __future__ import annotations

import argparse
import time

import audit
import counting
import interval_coverage
import quality
import ratios
import refinement
import regression_tables
import segments
import speed
import subspace_tables
import tables
from measuring import N_THREADS, machine
from threadpoolctl import threadpool_limits

BENCHMARKS = {
    "speed": speed,
    "ratios": ratios,
    "refinement": refinement,
    "coverage": interval_coverage,
    "audit": audit,
    "counting": counting,
    "tables": tables,
    "regression_tables": regression_tables,
    "subspace_tables": subspace_tables,
    "quality": quality,
    "segments": segments,
}
# These take minutes or longer, or need other packages: only where they are named.
ON_REQUEST = (
    "ratios",
    "refinement",
    "coverage",
    "counting",
    "tables",
    "quality",
    "segments",
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
    parser.add_argument("--seeds", type=int, default=10, help="of the table of refinement")
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
        more = {"seeds": options.seeds} if benchmark is refinement else {}
        benchmark.run(quick=options.quick, **more)
        print(f"\n({time.perf_counter() - start:.0f} s)", flush=True)


if __name__ == "__main__":
    main()
