#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The list of mutants: the same for a seed, of every kind and part, in code alone."""

import pathlib
import sys
import tempfile
import time
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


class Runs(unittest.TestCase):
    def test_end_where_a_program_takes_too_long(self):
        self.assertEqual(mutants.run(["true"], 60), (0, ""))
        self.assertIsNone(mutants.run(["sh", "-c", "while :; do :; done"], 60, None, 0)[0])
        begin = time.monotonic()  # a child that holds the output is ended too
        self.assertIsNone(mutants.run(["sh", "-c", "sleep 60; true"], 0.5)[0])
        self.assertLess(time.monotonic() - begin, 30)

    def test_go_on_with_the_sources_of_their_copy(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            workshop = mutants.Workshop(folder, 1)
            workshop.tree.mkdir()
            source = workshop.tree / "a.cpp"
            source.write_text("one\ntwo\n")
            seen = []
            workshop.compile = lambda part, seconds: seen.append(source.read_text())
            mutant = {"part": "core", "file": "a.cpp", "line": 2, "text": "three"}
            self.assertEqual(workshop.judge(mutant)["verdict"], "does not build")
            self.assertEqual(seen, ["one\nthree\n"])
            self.assertEqual(source.read_text(), "one\ntwo\n")
            self.assertFalse(workshop.original.exists())

            def end(part, seconds):
                raise KeyboardInterrupt

            workshop.compile, restore = end, workshop.restore
            workshop.restore = lambda: None  # as if the run had been killed
            with self.assertRaises(KeyboardInterrupt):
                workshop.judge(mutant)
            self.assertNotEqual(source.read_text(), "one\ntwo\n")
            restore()
            self.assertEqual(source.read_text(), "one\ntwo\n")

    def test_ask_the_nearest_program_first_and_slow_tests_last(self):
        workshop = mutants.Workshop(pathlib.Path("/nowhere"), 1)
        workshop.steps = {program: [["*-Slow.test", 1.0], ["Slow.test", 9.0]]
                          for program in mutants.PARTS["privacy"][1]}
        workshop.steps["test_privacy"] = [["*", 0.1]]
        order = workshop.tests_of({"part": "privacy", "before": "", "after": "",
                                    "file": "privacy/src/accounting/pld.cpp"})
        self.assertEqual(order[:2], [("test_accounting", "*-Slow.test", 1.0),
                                     ("test_privacy", "*", 0.1)])
        slow = [names == "Slow.test" for _, names, _ in order]
        self.assertEqual(slow, sorted(slow))
        self.assertEqual(len(order), len(set(order)))

    def test_ask_the_audit_where_tests_find_nothing_or_it_is_drawn(self):
        with tempfile.TemporaryDirectory() as name:
            workshop = mutants.Workshop(pathlib.Path(name), 1)
            workshop.tree.mkdir()
            (workshop.tree / "a.cpp").write_text("one\n")
            workshop.compile = lambda programs, seconds: True
            workshop.steps = {program: [["*", 1.0]] for program in
                              [*mutants.PARTS["core"][1], mutants.AUDIT[0]]}
            asked = []

            def fails(program, names, cpu_seconds):
                asked.append(program)
                return finds.get(program)

            workshop.fails = fails
            mutant = {"part": "core", "file": "a.cpp", "line": 1, "text": "two",
                      "before": "one", "after": "two"}
            finds = {"test_core": "A.b"}
            self.assertEqual(workshop.judge(mutant), {"verdict": "killed", "tests": "A.b"})
            self.assertEqual(asked, ["test_core"])
            workshop.judge(mutant, True)
            self.assertEqual(asked[1:], ["test_core", mutants.AUDIT[0]])
            finds = {mutants.AUDIT[0]: "C.d"}
            self.assertEqual(workshop.judge(mutant)["audit"], "C.d")
            finds = {}
            self.assertEqual(workshop.judge(mutant)["verdict"], "survived")


class Report(unittest.TestCase):
    def test_counts_what_a_limit_of_time_ends_apart_from_what_a_test_finds(self):
        mutant = {"kind": "sign", "file": "a.cpp", "before": "b", "after": "c"}
        results = [{**mutant, "verdict": "killed", "tests": "A.b"},
                   {**mutant, "verdict": "killed", "tests": "test_core takes too long"},
                   {**mutant, "verdict": "killed", "tests": "test_core takes too long",
                    "audit": "C.d"},
                   {**mutant, "verdict": "survived"}, {**mutant, "verdict": "does not build"}]
        self.assertEqual(mutants.figures(results)["sign"], [4, 3, 1, 0, 1])

    @unittest.skipUnless(mutants.RECORD.exists(), "no run is recorded")
    def test_on_the_page_is_that_of_the_record(self):
        record = mutants.read_record(mutants.RECORD)
        text, total = mutants.table(record)
        page = (mutants.ROOT / "tests" / "planted-bugs.md").read_text()
        self.assertIn(text, page)
        self.assertIn(f"{total[1]} of {total[0] - total[3]}", page)
        self.assertGreaterEqual(total[0], 300)
        self.assertGreaterEqual(total[1], 0.95 * (total[0] - total[3]))

    @unittest.skipUnless(mutants.RECORD.exists(), "no run is recorded")
    def test_of_fresh_mutants_is_that_of_their_record(self):
        known = {mutants.place(r) for r in mutants.read_record(mutants.RECORD)}
        fresh = mutants.read_record(mutants.RECORD.with_name("fresh.csv"))
        self.assertFalse(known & {mutants.place(r) for r in fresh})
        killed = sum(r["verdict"] == "killed" for r in fresh)
        page = (mutants.ROOT / "tests" / "planted-bugs.md").read_text()
        self.assertIn(f"{killed} killed, {len(fresh) - killed} survived", page)

    @unittest.skipUnless(mutants.RECORD.exists(), "no run is recorded")
    def test_argues_of_survivors_alone_that_they_change_nothing(self):
        survived = {mutants.place(r) for r in mutants.read_record(mutants.RECORD)
                    if r["verdict"] == "survived"}
        for place, why in mutants.equivalents().items():
            self.assertIn(place, survived)
            self.assertTrue(why.endswith("."), why)


if __name__ == "__main__":
    unittest.main()
