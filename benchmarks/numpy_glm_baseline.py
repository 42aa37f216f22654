#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What NumPy needs for the kernels of bench_glm, on one thread.

Prints milliseconds for the clipped sum of per-record gradients, for that of gradient differences
and for a Hessian product of the sigmoid-square loss, written for NumPy with features X of shape
(n, d): scores X @ w, then X.T @ (weights * slopes).
"""
import os

for variable in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import time  # noqa: E402  (the variables above must stand before NumPy is loaded)

import numpy as np  # noqa: E402

LIMIT = 0.05


def seconds(work, at_least=1.0):
    """Median time of one call over repetitions that take `at_least` seconds together."""
    work()
    times = []
    while sum(times) < at_least:
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return sorted(times)[len(times) // 2]


def sigmoid(t):
    return 1 / (1 + np.exp(-t))


def slopes(X, y, w):
    s = sigmoid(X @ w)
    return (s - y) * s * (1 - s)


def clipped(X, lengths, slope):
    norms = np.abs(slope) * lengths
    weights = np.minimum(1, LIMIT / np.maximum(norms, 1e-300))
    return X.T @ (weights * slope)


def hessian_product(X, y, w, v):
    s = sigmoid(X @ w)
    slope = s * (1 - s)
    curvature = slope * slope + (s - y) * slope * (1 - 2 * s)
    return X.T @ (curvature * (X @ v))


def main():
    rng = np.random.default_rng(1)
    for n, d in ((100000, 100), (60000, 785)):
        X = rng.standard_normal((n, d))
        lengths = np.linalg.norm(X, axis=1)
        X /= lengths[:, None]
        lengths[:] = 1
        y = (rng.random(n) < 0.5).astype(float)
        w = rng.standard_normal(d)
        previous = w + 0.01 * rng.standard_normal(d)
        expected = sum(clipped(X[i : i + 1], lengths[i : i + 1], slopes(X[i : i + 1], y[i : i + 1], w))
                       for i in range(1000))
        assert np.allclose(clipped(X[:1000], lengths[:1000], slopes(X[:1000], y[:1000], w)), expected)
        kernels = {
            "clipped_gradient": lambda: clipped(X, lengths, slopes(X, y, w)),
            "clipped_difference": lambda: clipped(
                X, lengths, slopes(X, y, w) - slopes(X, y, previous)),
            "objective_product": lambda: hessian_product(X, y, w, previous),
        }
        for name, work in kernels.items():
            elapsed = seconds(work)
            print(f"{name}/{n}/{d}: {elapsed * 1e3:.2f} ms, {8e-9 * n * d / elapsed:.2f} GB/s")


if __name__ == "__main__":
    main()
