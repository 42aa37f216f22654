#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What NumPy needs for two kernels of bench_core and bench_problems, on one thread.

Prints normals per second, and nanoseconds a record for the clipped sum of per-record gradients,
and gradient differences, of matrix sensing (p = q = 20, r = 3), written for NumPy: two matrix
products over a chunk of 256 records. The result is checked against a loop over records.
"""
import os

for variable in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import time  # noqa: E402  (the variables above must stand before NumPy is loaded)

import numpy as np  # noqa: E402

P = Q = 20
RANK = 3
CHUNK = 256
LIMIT = 0.5


def seconds(work, at_least=1.0):
    """Median time of one call over repetitions that take `at_least` seconds together."""
    work()
    times = []
    while sum(times) < at_least:
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return sorted(times)[len(times) // 2]


def contributions(A, b, U, V):
    """Per-record gradients res_i (A_i V, A_i' U), shape (records, (p + q) r)."""
    left = (A.reshape(-1, Q) @ V).reshape(-1, P, RANK)  # one product, not one a record
    right = np.tensordot(A, U, axes=(1, 0))
    residual = np.einsum("nij,ij->n", left, U) - b
    flat = np.concatenate([left.reshape(len(A), -1), right.reshape(len(A), -1)], axis=1)
    return residual[:, None] * flat


def clipped_sum(A, b, points, limit):
    """Sum of min(1, limit / |v_i|) v_i; v_i is a gradient, or a difference for two points."""
    total = np.zeros((P + Q) * RANK)
    for first in range(0, len(A), CHUNK):
        part = slice(first, first + CHUNK)
        v = contributions(A[part], b[part], *points[0])
        if len(points) == 2:
            v -= contributions(A[part], b[part], *points[1])
        norm = np.sqrt(np.einsum("nd,nd->n", v, v))
        total += np.minimum(1.0, limit / norm) @ v
    return total


def check(A, b, point):
    """The batched form is the formula, record by record."""
    U, V = point
    expected = np.zeros((P + Q) * RANK)
    for A_i, b_i in zip(A, b):
        residual = np.sum(A_i * (U @ V.T)) - b_i
        v = residual * np.concatenate([(A_i @ V).ravel(), (A_i.T @ U).ravel()])
        expected += v * min(1.0, LIMIT / np.linalg.norm(v))
    assert np.allclose(clipped_sum(A, b, [point], LIMIT), expected, rtol=1e-12)


def main():
    generator = np.random.default_rng(1)
    out = np.empty(1 << 14)
    per_call = seconds(lambda: generator.standard_normal(out=out))
    print(f"normals: {out.size / per_call / 1e6:.1f} million a second")

    for records in (256, 25600):
        A = generator.normal(scale=0.05, size=(records, P, Q))
        b = generator.normal(size=records)
        to = generator.normal(scale=0.5, size=(P, RANK)), generator.normal(scale=0.5, size=(Q, RANK))
        moved = tuple(f + generator.normal(scale=0.01, size=f.shape) for f in to)
        check(A[:256], b[:256], to)
        for name, points in (("gradient", [to]), ("difference", [to, moved])):
            per_call = seconds(lambda: clipped_sum(A, b, points, LIMIT))
            print(f"{name}/{records}: {per_call / records * 1e9:.0f} ns a record")


if __name__ == "__main__":
    main()
