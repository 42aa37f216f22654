#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Normalised DP-SGD with momentum, the algorithm of examples/algorithm in Python."""
import numpy as np

import dpsosp


class NormalisedMomentum(dpsosp.Algorithm):
    def plan(self, facts, budget):
        if "clip" not in self.given and "lipschitz" in facts.constants:
            self.clip = facts.constant("lipschitz")
        return [dpsosp.Planned(self.steps)]

    def run(self, curator, stream):
        x = curator.facts.initial_point.copy()
        m = np.zeros_like(x)
        for t in range(self.steps):
            self.show(t, x)
            g = curator.gradient(x, curator.draw(), limit=self.clip, noise=self.noise)
            m = self.momentum * m + (1 - self.momentum) * g
            x -= self.step_size * m / max(np.linalg.norm(m), 1e-12)
        return x


dpsosp.serve(NormalisedMomentum)
