#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What NumPy, SciPy and PyTorch take for the work of bench_speed, on one thread.

PEERS maps the name of a benchmark to functions that each prepare a peer and return the work to be
timed. Arrays are laid out as their users have them: a record a row.
"""
import os

for variable in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ[variable] = "1"
os.environ.pop("OPENBLAS_CORETYPE", None)  # the processor decides

import functools  # noqa: E402  (the variables above must stand before NumPy is loaded)

import numpy as np  # noqa: E402
import scipy.linalg  # noqa: E402
import scipy.sparse.linalg  # noqa: E402

PEERS = {}


def peer(name, label):
    """Registers a peer of that benchmark."""
    def register(prepare):
        PEERS.setdefault(name, {})[label] = prepare
        return prepare
    return register


# Noise and batches.

for count in (1000000, 100):
    @peer(f"normals/{count}", "numpy")
    def normals(count=count):
        rng = np.random.default_rng(1)
        return lambda: 1.5 * rng.standard_normal(count)


@peer("poisson_batch", "numpy")
def poisson_batch():
    rng = np.random.default_rng(2)
    return lambda: np.flatnonzero(rng.random(100000) < 0.0026)


@peer("fixed_batch", "numpy")
def fixed_batch():
    rng = np.random.default_rng(3)
    return lambda: rng.choice(100000, 256, replace=False, shuffle=False)


# A clipped step of a generalised linear model.

@functools.lru_cache(maxsize=1)  # 1.6 GB
def glm(d, n):
    rng = np.random.default_rng(4)
    X = rng.standard_normal((n, d))
    X /= np.linalg.norm(X, axis=1)[:, None]
    y = (rng.random(n) < 0.5).astype(float)
    return X, np.ones(n), y, rng.standard_normal(d)


def sigmoid_slopes(t, y):
    s = 1 / (1 + np.exp(-t))
    return (s - y) * s * (1 - s)


LIMIT = 0.05
GLM_SIZES = ((100, 64, 100000), (1000, 256, 100000), (10000, 4096, 20000))

for size in GLM_SIZES:
    @peer("glm_step/{}/{}/{}".format(*size), "numpy")
    def glm_step(size=size):
        d, batch, n = size
        X, lengths, y, w = glm(d, n)
        rng = np.random.default_rng(5)

        def work():
            members = rng.choice(n, batch, replace=False, shuffle=False)
            rows = X[members]
            slopes = sigmoid_slopes(rows @ w, y[members])
            norms = np.abs(slopes) * lengths[members]
            weights = np.minimum(1, LIMIT / np.maximum(norms, 1e-300))
            return ((weights * slopes) @ rows + 1e6 * rng.standard_normal(d)) / batch
        return work

    @peer("glm_step/{}/{}/{}".format(*size), "pytorch, a gradient a record")
    def glm_step_torch(size=size):
        import torch
        torch.set_num_threads(1)
        d, batch, n = size
        X, _, y, w = (torch.from_numpy(a).float() for a in glm(d, n))
        weight = w.reshape(1, d).clone().requires_grad_()

        def work():
            members = torch.randperm(n)[:batch]
            rows, labels = X[members], y[members]
            score = rows @ weight.T
            loss = 0.5 * (torch.sigmoid(score[:, 0]) - labels) ** 2
            (backprop,) = torch.autograd.grad(loss.sum(), score)
            each = torch.einsum("ni,nj->nij", backprop, rows)  # a gradient a record
            norms = each.reshape(batch, -1).norm(2, dim=-1)
            factor = (LIMIT / (norms + 1e-6)).clamp(max=1.0)
            total = torch.einsum("n,nij->ij", factor, each)
            return (total + 1e6 * torch.normal(0.0, 1.0, total.shape)) / batch
        return work


# Matrix sensing.

class Sensing:
    def __init__(self, p, r, n):
        rng = np.random.default_rng(7)
        self.p, self.r, self.n = p, r, n
        self.A = rng.standard_normal((n, p, p))
        self.flat = self.A.reshape(n, -1)
        self.minimiser = rng.standard_normal(2 * p * r) / np.sqrt(p)
        U, V = self.factors(self.minimiser)
        self.b = self.flat @ (U @ V.T).ravel()
        self.saddle = 0.01 * rng.standard_normal(2 * p * r)
        self.near_minimiser = self.minimiser + 0.001 * rng.standard_normal(2 * p * r)

    def factors(self, x):
        half = self.p * self.r
        return x[:half].reshape(self.p, self.r), x[half:].reshape(self.p, self.r)

    def contributions(self, x, part=slice(None)):
        """Per-record (A_i V, A_i' U) and residuals."""
        U, V = self.factors(x)
        A = self.A[part]
        left = (A.reshape(-1, self.p) @ V).reshape(-1, self.p, self.r)
        right = np.tensordot(A, U, axes=(1, 0))
        residual = np.einsum("nij,ij->n", left, U) - self.b[part]
        return np.concatenate([left.reshape(len(A), -1), right.reshape(len(A), -1)], axis=1), residual

    def clipped_gradient(self, x, limit=0.5, chunk=256):
        total = np.zeros(x.size)
        for first in range(0, self.n, chunk):
            J, residual = self.contributions(x, slice(first, first + chunk))
            norms = np.abs(residual) * np.sqrt(np.einsum("nd,nd->n", J, J))
            total += (np.minimum(1.0, limit / norms) * residual) @ J
        return total

    def residual_mean(self, x):
        U, V = self.factors(x)
        return ((self.flat @ (U @ V.T).ravel() - self.b) @ self.flat / self.n).reshape(self.p, -1)

    def product(self, x, v, G):
        (U, V), (P, Q) = self.factors(x), self.factors(v)
        change = ((self.flat @ (P @ V.T + U @ Q.T).ravel()) @ self.flat / self.n).reshape(self.p, -1)
        return np.concatenate([(change @ V + G @ Q).ravel(), (change.T @ U + G.T @ P).ravel()])

    def matrix(self, x):
        d, half = x.size, x.size // 2
        H = np.zeros((d, d))
        for first in range(0, self.n, 1024):
            J, _ = self.contributions(x, slice(first, first + 1024))
            H += J.T @ J
        H /= self.n
        cross = np.kron(self.residual_mean(x), np.eye(self.r))
        H[:half, half:] += cross
        H[half:, :half] += cross.T
        return H

    def eigsh(self, x, start=None):
        G = self.residual_mean(x)
        operator = scipy.sparse.linalg.LinearOperator(
            (x.size, x.size), matvec=lambda v: self.product(x, v, G), dtype=float)
        return scipy.sparse.linalg.eigsh(operator, k=1, which="SA", tol=1e-7, v0=start)

    def dense(self, x):
        return scipy.linalg.eigh(self.matrix(x), subset_by_index=(0, 0), eigvals_only=True)


@functools.lru_cache(maxsize=2)
def sensing(p, r, n):
    return Sensing(p, r, n)


SMALL, LARGE = (20, 3, 400), (100, 5, 20000)
for size in (SMALL, LARGE):
    @peer("sensing_gradient/{}/{}/{}".format(*size), "numpy")
    def sensing_gradient(size=size):
        problem = sensing(*size)
        return lambda: problem.clipped_gradient(problem.near_minimiser)

    @peer("sensing_product/{}/{}/{}".format(*size), "numpy")
    def sensing_product(size=size):
        problem = sensing(*size)
        x, G = problem.near_minimiser, problem.residual_mean(problem.near_minimiser)
        return lambda: problem.product(x, problem.saddle, G)

    for place in ("saddle", "near_minimiser"):
        for kind in ("estimate", "certificate"):
            if kind == "certificate" and size == LARGE:
                continue
            name = "{}_{}/{}/{}/{}".format(kind, place.replace("near_", ""), *size)

            @peer(name, "scipy eigsh")
            def cold(size=size, place=place):
                problem = sensing(*size)
                return lambda: problem.eigsh(getattr(problem, place))

            @peer(name, "scipy dense")
            def dense(size=size, place=place):
                problem = sensing(*size)
                return lambda: problem.dense(getattr(problem, place))


@peer("estimate_trace/{}/{}/{}".format(*SMALL), "scipy eigsh, warm")
def estimate_trace():
    problem = sensing(*SMALL)

    def work():
        start = None
        for k in range(20):
            x = problem.saddle + (k / 19.0) * (problem.near_minimiser - problem.saddle)
            start = problem.eigsh(x, start)[1][:, 0]
    return work


@peer("estimate_trace/{}/{}/{}".format(*SMALL), "scipy dense")
def dense_trace():
    problem = sensing(*SMALL)

    def work():
        for k in range(20):
            problem.dense(problem.saddle + (k / 19.0) * (problem.near_minimiser - problem.saddle))
    return work


@peer("sweep_cell", "numpy")
def sweep_cell():
    def work():
        rng = np.random.default_rng(8)
        n, d, batch = 100000, 100, 256
        X = rng.standard_normal((n, d))
        X *= (rng.random(n) ** (1 / d) / np.linalg.norm(X, axis=1))[:, None]
        planted = rng.standard_normal(d)
        planted *= 2 / np.linalg.norm(planted)
        y = (rng.random(n) < 1 / (1 + np.exp(-X @ planted))).astype(float)
        lengths = np.linalg.norm(X, axis=1)
        w = np.zeros(d)
        for t in range(1000):
            members = rng.choice(n, batch, replace=False, shuffle=False)
            rows = X[members]
            slopes = sigmoid_slopes(rows @ w, y[members])
            weights = np.minimum(1, 1 / np.maximum(np.abs(slopes) * lengths[members], 1e-300))
            w = w - 0.1 * ((weights * slopes) @ rows + rng.standard_normal(d)) / batch
            if t % 50 == 0:
                s = 1 / (1 + np.exp(-X @ w))
                slope = s * (1 - s)
                residual = s - y
                0.5 * np.mean(residual ** 2)
                (residual * slope) @ X / n
                curvature = slope ** 2 + residual * slope * (1 - 2 * s)
                H = (X * curvature[:, None]).T @ X / n
                scipy.linalg.eigh(H, subset_by_index=(0, 0), eigvals_only=True)
    return work


class XuExperiment:
    """Four methods, 400 iterations each, λ_min at every one; 200 and 50 of 400 records a batch."""
    steps, large, small, limit, noise = 400, 200, 50, 1.0, 0.05

    def __init__(self, smallest):
        self.problem = sensing(*SMALL)
        self.rng = np.random.default_rng(9)
        self.smallest = smallest  # eigenvalue at a point

    def clipped_mean(self, gradients):
        norms = np.linalg.norm(gradients, axis=1)
        weights = np.minimum(1, self.limit / np.maximum(norms, 1e-300))
        mean = weights @ gradients / len(gradients)
        return mean + self.noise * self.rng.standard_normal(mean.size)

    def gradients(self, x, members, dual=None):
        J, residual = self.problem.contributions(x, members)
        return (residual if dual is None else dual[members])[:, None] * J

    def batch(self, size):
        return self.rng.choice(self.problem.n, size, replace=False, shuffle=False)

    def record(self, x):
        _, residual = self.problem.contributions(x)
        0.5 * np.mean(residual ** 2)
        self.problem.clipped_gradient(x, np.inf, self.problem.n)
        self.smallest(x)

    def dp_rgda(self, x):
        dual = np.zeros(self.problem.n)
        for t in range(self.steps):
            if t % 10 == 0:
                v = self.clipped_mean(self.gradients(x, self.batch(self.large), dual))
            before, x = x, x - 0.2 * v
            for _ in range(5):
                _, residual = self.problem.contributions(x)
                moved = dual + 0.8 * (residual - dual)
                members = self.batch(self.small)
                v = v + self.clipped_mean(self.gradients(x, members, moved)
                                          - self.gradients(before, members, dual))
                before, dual = x, moved
            self.record(x)

    def spider(self, x, step, most_drift):
        drift = np.inf
        for _ in range(self.steps):
            if drift > most_drift:
                drift, v = 0, self.clipped_mean(self.gradients(x, self.batch(self.large)))
            else:
                members = self.batch(self.small)
                v = v + self.clipped_mean(self.gradients(x, members)
                                          - self.gradients(before, members))
            before, x = x, x - step * v
            drift += np.sum((x - before) ** 2)
            self.record(x)

    def private_diff(self, x):
        for _ in range(self.steps):
            x = x - 0.0125 * self.clipped_mean(self.gradients(x, self.batch(self.large)))
            self.record(x)

    def run(self):
        start = self.problem.saddle
        self.dp_rgda(start)
        self.spider(start, 0.005, 0.7)
        self.spider(start, 0.02, 0.01)
        self.private_diff(start)


@peer("xu_experiment", "scipy dense")
def xu_dense():
    problem = sensing(*SMALL)
    return XuExperiment(problem.dense).run


@peer("xu_experiment", "scipy eigsh, warm")
def xu_warm():
    problem, start = sensing(*SMALL), [None]

    def smallest(x):
        start[0] = problem.eigsh(x, start[0])[1][:, 0]
    return XuExperiment(smallest).run


def check():
    """The formulas, against each other."""
    problem = Sensing(5, 2, 60)
    x = problem.near_minimiser
    H, G = problem.matrix(x), problem.residual_mean(x)
    assert np.allclose(H @ problem.saddle, problem.product(x, problem.saddle, G))
    assert np.isclose(problem.dense(x)[0], problem.eigsh(x)[0][0], atol=1e-6)
    expected = 0
    for i in range(problem.n):
        J, residual = problem.contributions(x, slice(i, i + 1))
        v = residual[0] * J[0]
        expected = expected + v * min(1.0, 0.5 / np.linalg.norm(v))
    assert np.allclose(problem.clipped_gradient(x), expected)


if __name__ == "__main__":
    check()
    print("\n".join(f"{name}: {', '.join(peers)}" for name, peers in PEERS.items()))
