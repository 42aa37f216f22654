#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ratios of bench_speed to what NumPy, SciPy and PyTorch take for the same work.

Each round times ours and every peer once, one after another, so that a slow minute of a shared
machine meets all of them. A ratio is the peer's CPU time over ours in the same round: above 1 ours
is faster. Prints a Markdown table of medians with the range over the rounds, and writes it with the
times behind it to --out.
"""
import argparse
import csv
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import peers  # first: sets the number of threads

import numpy
import scipy

import peak_memory

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "python"))
import dpsosp.plots as plots

READS = ("glm_step", "random_rows")  # work and the probe that bounds it

# Cost against size: the benchmark, what its argument is, and the exponent of the arithmetic count.
SCALES = (("scale_n", "records n", 1), ("scale_d", "dimension d", 1), ("scale_T", "steps T", 1))
SWEEP = "reproductions/baselines/sweeps/wang-2023-dp-srm.toml"
MEMORY = (100000, 1000)  # n, d of a generalised linear model


def ours(program, name):
    """CPU seconds of one iteration of that benchmark."""
    text = subprocess.run(
        [program, f"--benchmark_filter=^{name}$", "--benchmark_format=json",
         "--benchmark_min_time=0.3"],
        check=True, capture_output=True, text=True).stdout
    (row,) = json.loads(text)["benchmarks"]
    return row["cpu_time"] * {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}[row["time_unit"]]


def family(program, name):
    """Argument and CPU seconds of every size of a benchmark."""
    text = subprocess.run(
        [program, f"--benchmark_filter=^{name}/", "--benchmark_format=json",
         "--benchmark_min_time=0.2"],
        check=True, capture_output=True, text=True).stdout
    scale = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
    return [(int(row["name"].rsplit("/", 1)[1]), row["cpu_time"] * scale[row["time_unit"]])
            for row in json.loads(text)["benchmarks"]]


def threads_of(dpsosp):
    """Wall seconds of a sweep for 1, 2, 4, ... threads, up to the processors there are."""
    at_a_time = 1
    while at_a_time <= os.cpu_count():
        with tempfile.TemporaryDirectory() as folder:
            start = time.monotonic()
            subprocess.run([dpsosp, "sweep", SWEEP, "--scale", "quick", "--quiet", "--threads",
                            str(at_a_time), "--out", folder], check=True, capture_output=True)
            yield at_a_time, time.monotonic() - start
        at_a_time *= 2


def memory(dpsosp):
    """Peak memory of a run over that of its features and labels."""
    n, d = MEMORY
    command = [dpsosp, "run", "--algorithm", "avdiukhin-2024/dp-sgd", "--problem", "glm-sigmoid",
               "--records", str(n), "--dimension", str(d), "--epsilon", "1", "--delta", "1e-6",
               "--set", "steps=5"]
    return peak_memory.of(command) / (8 * n * (d + 1))


def seconds(work, at_least=0.3):
    """Median CPU seconds of one call; the first call is not counted where it is not the only one."""
    times = []
    while sum(times) < at_least:
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return statistics.median(times[1:] or times)


def number(value):
    return f"{value:.3g}" if value < 100 else f"{value:.0f}"


def span(values):
    return f"{number(statistics.median(values))} ({number(min(values))} to {number(max(values))})"


def duration(value):
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if value >= scale:
            return f"{number(value / scale)} {unit}"
    return f"{number(value / 1e-9)} ns"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    built = pathlib.Path(__file__).resolve().parent.parent / "build/release/bin"
    parser.add_argument("--program", default=str(built / "bench_speed"))
    parser.add_argument("--dpsosp", default=str(built / "dpsosp"))
    parser.add_argument("--filter", default="",
                        help="names that contain this; without it, also cost against size")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--out", default="out/speed", help="folder")
    options = parser.parse_args()
    if options.rounds < 1:
        parser.error("--rounds: expected 1 or more")
    names = [name for name in peers.PEERS if options.filter in name]
    if not names:
        parser.error(f"--filter: no name contains {options.filter!r}; names: {', '.join(peers.PEERS)}")

    rows, times = [], []
    for name in names:
        works = {label: prepare() for label, prepare in peers.PEERS[name].items()}
        probe = name.replace(*READS) if name.startswith(READS[0]) else None
        measured = {label: [] for label in ["ours", *works, *(["limit"] if probe else [])]}
        for round_ in range(options.rounds):
            measured["ours"].append(ours(options.program, name))
            if probe:
                measured["limit"].append(ours(options.program, probe))
            for label, work in works.items():
                measured[label].append(seconds(work))
        for label, values in measured.items():
            times += [(name, label, round_, value) for round_, value in enumerate(values)]
        for label in works:
            ratios = [p / o for p, o in zip(measured[label], measured["ours"])]
            share = ""
            if probe:
                share = span([100 * l / o for l, o in zip(measured["limit"], measured["ours"])])
            rows.append((name, label, duration(statistics.median(measured["ours"])),
                         duration(statistics.median(measured[label])), span(ratios), share))
            print(" | ".join(rows[-1]), file=sys.stderr, flush=True)

    provenance = (f"NumPy {numpy.__version__}, SciPy {scipy.__version__}, OPENBLAS_CORETYPE unset, "
                  f"{options.rounds} rounds, one thread, CPU time")
    table = ["| work | peer | ours | peer | peer : ours, median (range) | % of reading random rows |",
             "|---|---|---|---|---|---|"]
    table += ["| " + " | ".join(row) + " |" for row in rows]
    text = "\n".join([provenance, "", *table, ""])
    print(text)
    out = pathlib.Path(options.out)
    out.mkdir(parents=True, exist_ok=True)
    (out / "speed.md").write_text(text)
    write(out / "speed.csv", ("work", "who", "round", "seconds"), times)
    if options.filter:
        return
    scaling = [(axis, exponent, x, value) for name, axis, exponent in SCALES
               for x, value in family(options.program, name)]
    scaling += [("threads", -1, x, value) for x, value in threads_of(options.dpsosp)]
    write(out / "scaling.csv", ("axis", "exponent", "size", "seconds"), scaling)
    draw(scaling, out / "scaling.pdf")
    limits = [(name, ours(options.program, name)) for name in ("triad", "multiply_add")]
    limits.append(("memory", memory(options.dpsosp)))
    write(out / "limits.csv", ("name", "value"), limits)


def draw(scaling, file):
    """Seconds against records (clipped gradients, d = 32), dimension (4096 records), steps (noisy SGD, d = 16, batches of
    64) and threads (a sweep, wall time), each with the exponent of the arithmetic count."""
    panels = []
    for axis, exponent in dict.fromkeys((axis, exponent) for axis, exponent, *_ in scaling):
        points = {"measured": ["measured"], "size": [], "seconds": []}
        for other, _, size, value in scaling:
            if other == axis:
                points["size"].append(size)
                points["seconds"].append(value)
        points["measured"] *= len(points["size"])
        slope = numpy.polyfit(numpy.log(points["size"]), numpy.log(points["seconds"]), 1)[0]
        panels.append({"kind": "rates", "of": points, "x": "size", "y": "seconds", "by": "measured", "claimed": exponent,
                       "title": f"{axis}: {slope:.2f}, arithmetic {exponent}"})
    plots.save(plots.figure(panels, columns=2), file)


def write(path, header, rows):
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)


if __name__ == "__main__":
    main()
