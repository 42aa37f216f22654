# SPDX-License-Identifier: Apache-2.0
"""A program that wants what it may not have, and one with bugs in its use of the curator.

What came of an attack is the reason of its failure.
"""
import os
import random
import sys
import time

import numpy as np

import dpsosp


class Found(Exception):
    pass


class Hostile(dpsosp.Algorithm):
    parameters = {"guess": "none"}  # a text, also where it looks like a number

    def plan(self, facts, budget):
        # "greedy" asks twice as often as it plans.
        return [dpsosp.Planned(self.steps // 2 if self.attack == "greedy" else self.steps)]

    def run(self, curator, stream):
        attack = getattr(self, "attack_" + self.attack, None)
        return attack(curator) if attack else self.descend(curator, stream)

    def descend(self, curator, stream):
        x = curator.facts.initial_point.copy()
        for t in range(self.steps):
            self.show(t, x)
            limit = 1.0
            if self.attack == "clock":
                limit = 1.0 + 1e-6 * (time.perf_counter_ns() % 997)
            g = curator.gradient(x, curator.draw(), limit=limit, noise=self.noise)
            if self.attack == "coin":
                g = g + 1e-3 * random.gauss(0, 1)
            x = x - 0.1 * g
        if self.attack == "output":
            x = x + 1e-9 * int.from_bytes(os.urandom(2), "little")
        return x

    def refusal(self, question, *arguments, **named):
        try:
            return f"answered {question(*arguments, **named)}"
        except Exception as error:
            return f"{type(error).__name__}: {error}"

    def attack_records(self, curator):
        curator._host.ask("records", 0)

    def attack_files(self, curator):
        seen = [self.refusal(open, path, "rb") for path in (f"/proc/{os.getppid()}/mem", "/etc/passwd")]
        raise Found("; ".join(seen))

    def attack_batch(self, curator):
        x = curator.facts.initial_point
        batch = curator.draw(dpsosp.poisson(0.1))
        first = curator.gradient(x, batch, limit=1.0, noise=50.0)
        raise Found(self.refusal(curator.gradient, x, batch, limit=1.0, noise=50.0))

    def attack_refusal(self, curator):
        x = curator.facts.initial_point
        answers = []
        for _ in range(50):
            answers.append(self.refusal(curator.gradient, x, curator.draw(), limit=1.0, noise=self.noise))
        answered = sum(a.startswith("answered") for a in answers)
        raise Found(f"{answered} answered, then {answers[-1].split(':')[0]}; {curator.remaining()[0]:.3f} left")

    def attack_noise(self, curator):
        x = curator.facts.initial_point
        raise Found(self.refusal(curator.gradient, x, curator.draw(), limit=1.0, noise=0.0))

    def attack_seed(self, curator):
        told = {name: value for name, value in vars(self).items() if name != "guess"}
        known = [*sys.argv, *os.environ.values(), str(told), str(curator.facts)]
        known += [self.refusal(open, f"/proc/self/{name}") for name in ("environ", "cmdline")]
        raise Found(f"{len(known)} places, {sum(self.guess in place for place in known)} with the seed")


dpsosp.serve(Hostile)
