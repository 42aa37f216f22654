# SPDX-License-Identifier: Apache-2.0
"""Patterns of methods, which tests/python/patterns_test.cpp has in C++."""
import math

import numpy as np

import dpsosp


class Patterns(dpsosp.Algorithm):
    def plan(self, facts, budget):
        policy = {"normalised": dpsosp.poisson(0.2), "adam": dpsosp.sample(20)}
        return [dpsosp.Planned(self.steps, policy.get(self.pattern, dpsosp.ALL))]

    def run(self, curator, stream):
        return getattr(self, self.pattern)(curator, stream, curator.facts.initial_point.copy())

    def momentum(self, curator, stream, x):
        m = np.zeros_like(x)
        for t in range(self.steps):
            self.show(t, x)
            m = 0.9 * m + 0.1 * curator.gradient(x, curator.draw(), limit=1.0, noise=self.noise)
            x = x - 0.1 * m
        return x

    def normalised(self, curator, stream, x):
        for t in range(self.steps):
            self.show(t, x)
            g = curator.gradient(x, curator.draw(dpsosp.poisson(0.2)), limit=1.0, noise=self.noise)
            square = 0.0
            for entry in g:
                square += entry * entry
            x = x - 0.05 / math.sqrt(square) * g
        return x

    def adam(self, curator, stream, x):
        m, v, start1, start2 = np.zeros_like(x), np.zeros_like(x), 1.0, 1.0
        for t in range(self.steps):
            self.show(t, x)
            g = curator.gradient(x, curator.draw(dpsosp.sample(20)), limit=1.0, noise=self.noise)
            m = 0.9 * m + 0.1 * g
            v = 0.99 * v + 0.01 * (g * g)
            start1 *= 0.9
            start2 *= 0.99
            x = x - 0.05 / (1.0 - start1) * m / (np.sqrt(v / (1.0 - start2)) + 1e-8)
        return x

    def tree(self, curator, stream, x):
        tree = curator.tree(30.0, self.steps)
        previous = x
        for t in range(self.steps):
            self.show(t, x)
            batch = curator.draw(dpsosp.fresh(5))
            if t == 0:
                g = tree.gradient(x, batch, limit=1.0)
            else:
                g = tree.difference(x, previous, batch, limit=0.5)
            previous, x = x, x - 0.1 * g
        return x

    def spider(self, curator, stream, x):
        chosen = stream.below(self.steps)
        kicks = stream.child(1)
        g, previous, output = np.zeros_like(x), x, x
        for t in range(self.steps):
            self.show(t, x)
            if t % 5 == 0:
                g = curator.gradient(x, curator.draw(dpsosp.fresh(10)), limit=1.0, noise=20.0)
                x = x + kicks.ball(0.01, len(x))
            else:
                batch = curator.draw(dpsosp.fresh(5))
                g = g + curator.gradient_difference(x, previous, batch, limit=0.2, noise=20.0)
            if t == chosen:
                output = x
            previous, x = x, x - 0.1 * g + 1e-3 * kicks.normal(len(x))
        return output

    def second_order(self, curator, stream, x):
        everyone = curator.draw()
        v = curator.hessian(x, everyone, limit=4.0, noise=20.0)[:, 0]
        after = x - 0.1 * curator.hessian_product(x, v, everyone, limit=4.0, noise=20.0)
        sums = curator.hessian_stream()
        sums.refresh(x, everyone, 4.0)
        anchor = sums.copy()
        sums.add(after, x, everyone, 0.4)
        after = after - 0.1 * sums.product(v, 0.5) - 0.1 * anchor.product(v, 0.5)
        late = curator.child("late", share=0.5, records=(100, 200), initial_point=after)
        g = late.gradient_combination(0.5, late.facts.initial_point, x, late.draw(), limit=1.0,
                                      difference_limit=0.5, noise=20.0)
        return after - 0.1 * g


dpsosp.serve(Patterns)
