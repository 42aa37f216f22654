#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The list of mutants: the same for a seed, of every kind and part, in code alone."""

import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import mutants  # noqa: E402


class List(unittest.TestCase):
    def test_is_the_same_for_a_seed(self):
        first, again, other = (mutants.chosen(mutants.ROOT, 60, seed) for seed in (1, 1, 2))
        self.assertEqual(first, again)
        self.assertNotEqual(first, other)

    def test_has_every_kind_of_every_part(self):
        kinds = {(m["kind"], m["part"]) for m in mutants.chosen(mutants.ROOT, 60, 1)}
        for kind in ("sign", "factor", "bound", "index", "term", "swap", "reuse"):
            for part in mutants.PARTS:
                self.assertIn((kind, part), kinds)

    def test_has_300_that_differ(self):
        chosen = mutants.chosen(mutants.ROOT, 300, 1)
        self.assertEqual(len({mutants.identity(m) for m in chosen}), 300)
        self.assertTrue(all(m["before"] != m["after"] for m in chosen))

    def test_leaves_comments_and_texts_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "a.cpp")
            path.write_text('// x < y\nreject("a < b");\nif (a < b) return;  // c < d\n')
            found = mutants.mutants_of(pathlib.Path(folder), "core", "a.cpp")
        bounds = [m for m in found if m["kind"] == "bound"]
        self.assertEqual([m["text"] for m in bounds], ["if (a <= b) return;  // c < d"])


if __name__ == "__main__":
    unittest.main()
