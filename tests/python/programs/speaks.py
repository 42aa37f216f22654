# SPDX-License-Identifier: Apache-2.0
"""A program that prints, and one with the errors that authors make. A comment marks the line of each."""
import os
import sys

import numpy as np

import dpsosp

print("started")


class Speaks(dpsosp.Algorithm):
    def plan(self, facts, budget):
        self.halved = facts.dimension / 2  # what a plan sets is told back
        return [dpsosp.Planned(self.steps)]

    def run(self, curator, stream):
        x = curator.facts.initial_point.copy()
        for t in range(self.steps):
            self.show(t, x)
            self.speak(t)
            x = x - 0.1 * curator.gradient(x, curator.draw(), limit=1.0, noise=self.noise)
            wrong = getattr(self, "wrong_" + self.way, None)
            if wrong and t == 2:
                return wrong(curator, x)
        return x

    def speak(self, t):
        if self.way == "print":
            print("step", t)
        if self.way == "flush":
            print("step", t, flush=True)
        if self.way == "os":
            os.write(1, b"step\n")
        if self.way == "dunder":
            sys.__stdout__.write("x")
            sys.__stdout__.flush()
        if self.way == "much":
            sys.stderr.write("x" * 5000000 + "\n")
        if self.way == "input":
            print("read", repr(sys.stdin.read()))

    def wrong_raise(self, curator, x):
        raise ValueError("my own error")  # here: raise

    def wrong_name(self, curator, x):
        return self.stepps * x  # here: name

    def wrong_inside(self, curator, x):
        return np.linalg.solve(np.zeros((2, 2)), np.ones(2))  # here: inside

    def wrong_module(self, curator, x):
        import no_such_module  # here: module

    def wrong_exit(self, curator, x):
        sys.exit("enough")  # here: exit

    def wrong_limit(self, curator, x):
        return curator.gradient(x, curator.draw(), limit=None, noise=self.noise)  # here: limit

    def wrong_host(self, curator, x):
        return curator.gradient(x, curator.draw(), limit=1.0, noise=0.0)  # here: host


dpsosp.serve(Speaks)
