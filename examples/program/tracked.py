#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Tracked descent (docs/papers/tracked-descent.md, scale = scalar) in Python, where the domain is everywhere."""
import numpy as np

import dpsosp


class TrackedDescent(dpsosp.Algorithm):
    def plan(self, facts, budget):
        # The noise of a single query says how large the floor is, and the floor how many steps pay.
        self.floor = 2 * self.calibrated([dpsosp.Planned(1)]) * np.sqrt(facts.dimension) / facts.records
        self.steps = int(min(4096, np.ceil(4 / self.floor)))
        return [dpsosp.Planned(self.steps)]

    def run(self, curator, stream):
        facts, T, d = curator.facts, self.steps, curator.facts.dimension
        G, M, u = facts.constant("lipschitz"), facts.constant("smoothness"), 2 * self.noise / facts.records
        x = y = output = facts.initial_point
        v, V, least = np.zeros(d), 0.0, np.inf
        self.show(0, x)
        if self.floor > self.hopeless:
            return dpsosp.Outcome(x, "budget", 0, {"out_of_reach": 1})
        for t in range(T):
            self.show(t, x)
            b = min(M * np.linalg.norm(x - y), 2 * G)
            fresh = t == 0 or b >= G
            gain = 1.0 if fresh else np.clip((V - u * u * b * (G - b)) / (V + (u * (G - b)) ** 2), 0, 1)
            v = (1 - gain) * v + curator.gradient_combination(gain, x, y, curator.draw(), limit=G,
                                                              difference_limit=b, noise=self.noise)
            V = (1 - gain) ** 2 * V + (u * (gain * G + (1 - gain) * b)) ** 2
            length = np.linalg.norm(v)
            if t >= 0.75 * T and length + np.sqrt(d * V) < least:
                least, output = length + np.sqrt(d * V), x
            x, y = x - np.clip(length ** 2 / (4 * d * V), 0.1, 1) / M * v, x
        return output


dpsosp.serve(TrackedDescent)
