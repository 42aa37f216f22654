# SPDX-License-Identifier: Apache-2.0
"""The program in Python of bench_isolation: asking.hpp, line by line."""
import dpsosp


class Asking(dpsosp.Algorithm):
    parameters = {"steps": 20000, "draws": False}

    def plan(self, facts, budget):
        return [dpsosp.Planned(self.steps)]

    def run(self, curator, stream):
        x = curator.facts.initial_point.copy()
        everyone = curator.draw()
        for t in range(self.steps):
            self.show(t, x)
            batch = curator.draw() if self.draws else everyone
            x -= 1e-12 * curator.gradient(x, batch, limit=1.0, noise=1e6)
        return x


dpsosp.serve(Asking)
