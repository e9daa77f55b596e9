"""Run the benchmarks: all of them, or those named."""

from __future__ import annotations

import argparse
import time

import accuracy
import choices
import gaussian
import quality
import reading
import scale
import second_moment
import topics
from measuring import N_THREADS, machine
from threadpoolctl import threadpool_limits

BENCHMARKS = {
    "gaussian": gaussian,
    "topics": topics,
    "second_moment": second_moment,
    "accuracy": accuracy,
    "choices": choices,
    "quality": quality,
    "reading": reading,
    "scale": scale,
}
# These take long, or need other packages: only where they are named.
ON_REQUEST = ("quality", "reading", "scale")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "names", nargs="*", metavar="name", help=f"of {', '.join(BENCHMARKS)}; all but the last three by default"
    )
    parser.add_argument("--quick", action="store_true", help="small data: shows that all runs, not how fast")
    parser.add_argument("--seeds", type=int, default=10, help="of the accuracy table")
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
        more = {"seeds": options.seeds} if benchmark is accuracy else {}
        benchmark.run(quick=options.quick, **more)
        print(f"\n({time.perf_counter() - start:.0f} s)", flush=True)


if __name__ == "__main__":
    main()
