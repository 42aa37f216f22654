#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Mutants of the code that privacy rests on: each is one small change, built in a copy of the tree
and run against the fast tests and the audit. What survives is listed.

    tests/mutants/mutants.py --folder /tmp/mutants --count 300 --seed 1

The folder holds the copy, its build and results.jsonl; a run goes on where the last one ended, on
the sources of its copy. Sources that have changed since need another folder.
"""

import argparse
import collections
import json
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]

# What is changed, and by what it is tested: programs, each with a filter of its tests.
AUDIT = ("test_audit", "Registry/EveryClaim.SurvivesReplayAndIsTight/c*:"
         "Registry/EveryClaim.SurvivesReplayAndIsTight/release*:"
         "Registry/EveryClaim.SurvivesReplayAndIsTight/abadi*:Redraw*:Keys*")
PARTS = {
    "privacy": (["privacy/src/**/*.cpp", "privacy/src/door/*.hpp"],
                [("test_privacy", "*"), ("test_privacy_pure", "*"), ("test_second_order", "*"),
                 ("test_accounting", "*"), ("test_privacy_projection", "*"), AUDIT]),
    "problems": (["problems/*/src/*records*.cpp", "problems/base/src/sampling.cpp"],
                 [("test_problems", "*"), ("test_checks", "*"), AUDIT]),
    "core": ([f"core/src/{name}" for name in
              ("stream.cpp", "philox.cpp", "philox-inl.hpp", "normals.cpp", "binomial.cpp",
               "discrete_gaussian.cpp")],
             [("test_core", "*"), ("test_core_stat", "*"), ("test_privacy", "*"), AUDIT]),
}

NAME = r"[A-Za-z_][\w.]*(?:\(\))?"
# Kind, pattern, and what takes the place of its group "old".
RULES = [
    ("sign", r"(?<=[\w)\]]) (?P<old>\+) (?=[\w(])", "-"),
    ("sign", r"(?<=[\w)\]]) (?P<old>-) (?=[\w(])", "+"),
    ("sign", r" (?P<old>\+=) ", "-="),
    ("sign", r" (?P<old>-=) ", "+="),
    ("factor", r"(?P<old>\b2\.0\b)", "1.0"),
    ("factor", r"(?P<old>\b0\.5\b)", "1.0"),
    ("factor", r"(?<=[\w)\]])(?P<old> \* [A-Za-z_]\w*(?:\.\w+)?)(?=[;,)])", ""),
    ("factor", r"(?<=[\w)\]])(?P<old> / [A-Za-z_]\w*(?:\.\w+)?)(?=[;,)])", ""),
    ("factor", r"(?P<old>std::sqrt)\((?=[^()]*\))", ""),
    ("bound", r" (?P<old><=) ", "<"),
    ("bound", r" (?P<old>>=) ", ">"),
    ("bound", r" (?P<old><) (?=[\w(])", "<="),
    ("bound", r" (?P<old>>) (?=[\w(])", ">="),
    ("bound", r"std::(?P<old>min)\b", "max"),
    ("bound", r"std::(?P<old>max)\b", "min"),
    ("bound", r" (?P<old>==) ", "!="),
    ("index", r"\[(?P<old>[a-z]\w*)\]", r"\g<old> > 0 ? \g<old> - 1 : \g<old>"),
    ("index", r"(?<=[\w)])(?P<old> [+-] 1)(?=[;,)\]])", ""),
    ("index", r"(?P<old>\.begin)\b(?!\()", ".end"),
    ("index", r"= (?P<old>0); [a-z]\w* <", "1"),
    ("term", r"(?P<old> && [^&|;{}()]+(?:\([^()]*\))?)(?=\))", ""),
    ("term", r"(?P<old> \|\| [^&|;{}()]+(?:\([^()]*\))?)(?=\))", ""),
    ("term", r"^ +(?P<old>[\w.>\[\]()-]+ [+*/-]?= [^;{}]+;)$", ";"),
    ("term", r"^ +(?P<old>[\w.>-]+\([^;{}]*\);)$", ";"),
    ("term", r"(?P<old>!)(?=[a-z(])", ""),
    ("swap", rf"(?<=[\w>])\((?P<old>(?P<a>{NAME}), (?P<b>{NAME}))(?=[,)])", r"\g<b>, \g<a>"),
    ("reuse", r"(?P<old>\b[\w>.-]*(?:noise|sampling|choice|stream_?))\."
              r"(?=(?:bits|uniform|normal|add_normal|fill_normal|laplace|gumbel|subset|"
              r"bernoulli_subset|below)\()", r"Stream(\g<old>)"),
]
COMPILED = [(kind, re.compile(pattern), new) for kind, pattern, new in RULES]


def mutants_of(root, part, path):
    """All changes of one file, of code lines alone."""
    found = []
    for number, line in enumerate((root / path).read_text().splitlines()):
        code = line.split("//")[0].rstrip()
        if not code or code.lstrip().startswith(("#", "*", "namespace", "using", "template")):
            continue
        quoted = [m.span() for m in re.finditer(r'"(?:[^"\\]|\\.)*"', code)]
        for kind, pattern, new in COMPILED:
            for m in pattern.finditer(code):
                begin, end = m.span("old")
                if any(a < end and begin < b for a, b in quoted):
                    continue
                changed = line[:begin] + m.expand(new) + line[end:]
                if changed == line:
                    continue
                found.append({"part": part, "kind": kind, "file": path, "line": number + 1,
                              "column": begin + 1, "before": line.strip(),
                              "after": changed.strip(), "text": changed})
    return found


def chosen(root, count, seed):
    """As many of every kind, of each part in turn, as there are."""
    piles = collections.defaultdict(list)
    for part, (patterns, _) in PARTS.items():
        for path in sorted({p for pattern in patterns for p in root.glob(pattern)}):
            for mutant in mutants_of(root, part, str(path.relative_to(root))):
                piles[mutant["kind"], part].append(mutant)
    order = random.Random(seed)
    for pile in piles.values():
        order.shuffle(pile)
    taken = []
    while len(taken) < count and any(piles.values()):
        for key in sorted(piles):
            if piles[key] and len(taken) < count:
                taken.append(piles[key].pop())
    return taken


def run(command, seconds, folder=None, cpu_seconds=None):
    """Exit status and output; a status of None means that it took too long."""
    def limit():
        if cpu_seconds is not None:
            soft = int(cpu_seconds) + 1
            resource.setrlimit(resource.RLIMIT_CPU, (soft, soft + 5))

    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace", start_new_session=True,
                          preexec_fn=limit) as process:
        try:
            output, _ = process.communicate(timeout=seconds)
            return None if process.returncode == -signal.SIGXCPU else process.returncode, output
        except BaseException as interruption:
            os.killpg(process.pid, signal.SIGKILL)  # a build has children
            process.communicate()
            if isinstance(interruption, subprocess.TimeoutExpired):
                return None, ""
            raise


def cpu_of_children():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class Workshop:
    def __init__(self, folder, jobs):
        self.tree, self.build, self.jobs = folder / "tree", folder / "build", jobs
        self.results = folder / "results.jsonl"
        self.original = folder / "original.json"  # of the file that is changed
        self.seconds = {}  # of CPU, by test

    def prepare(self):
        if not self.tree.exists():
            partial = self.tree.with_name("tree.partial")
            shutil.rmtree(partial, ignore_errors=True)
            generated = {str(ROOT): {"build", "out", ".git"}}
            shutil.copytree(ROOT, partial, ignore=lambda at, names: generated.get(at, set()))
            partial.rename(self.tree)
        if self.original.exists():  # a run that was killed has left its mutant
            self.restore()
        status, output = run(["cmake", "-S", str(self.tree), "-B", str(self.build), "-G", "Ninja",
                              "-DCMAKE_BUILD_TYPE=Release"], 600)
        if status != 0:
            sys.exit(f"mutants: the copy cannot be configured\n{output[-2000:]}")
        for part, (_, tests) in PARTS.items():
            if not self.compile(part, 7200):
                sys.exit(f"mutants: the copy of {part} does not build")
            for test in tests:
                begin = cpu_of_children()
                verdict = self.fails(test, 1800)
                if verdict:
                    sys.exit(f"mutants: unchanged sources fail {test[0]}: {verdict}")
                self.seconds[test] = cpu_of_children() - begin

    def compile(self, part, seconds):
        targets = sorted({program for program, _ in PARTS[part][1]})
        status, _ = run(["cmake", "--build", str(self.build), f"-j{self.jobs}", "--target",
                         *targets], seconds)
        return status == 0

    def restore(self):
        original = json.loads(self.original.read_text())
        (self.tree / original["file"]).write_text(original["text"])
        self.original.unlink()

    def fails(self, test, cpu_seconds):
        """The first test that fails, or nothing."""
        program, names = test
        status, output = run([str(self.build / "bin" / program), f"--gtest_filter={names}",
                              "--gtest_brief=1"], 60 + 20 * cpu_seconds, self.build, cpu_seconds)
        if status is None:
            return f"{program} takes too long"
        if status == 0:
            return None
        failed = re.search(r"\[  FAILED  \] ([\w./]+)", output)
        return failed.group(1) if failed else f"{program} ends with {status}"

    def judge(self, mutant):
        path = self.tree / mutant["file"]
        whole = path.read_text()
        lines = whole.split("\n")
        lines[mutant["line"] - 1] = mutant["text"]
        partial = self.original.with_suffix(".partial")
        partial.write_text(json.dumps({"file": mutant["file"], "text": whole}))
        partial.rename(self.original)
        path.write_text("\n".join(lines))
        try:
            if not self.compile(mutant["part"], 3600):
                return {"verdict": "does not build"}
            killed = {}  # the audit judges every mutant, so that its own score is known
            for test in PARTS[mutant["part"]][1]:
                where = "audit" if test is AUDIT else "tests"
                if where in killed:
                    continue
                by = self.fails(test, 10 + 3 * self.seconds[test])
                if by:
                    killed[where] = by
            return {"verdict": "killed" if killed else "survived", **killed}
        finally:
            self.restore()


def identity(mutant):
    return tuple(mutant[key] for key in ("file", "line", "column", "kind", "after"))


def report(results):
    counted = [r for r in results if r["verdict"] != "does not build"]
    kinds = collections.defaultdict(lambda: [0, 0, 0, 0])
    for r in counted:
        row = kinds[r["kind"]]
        row[0] += 1
        row[1] += r["verdict"] == "killed"
        row[2] += "tests" in r
        row[3] += "audit" in r
    print("| kind | mutants | killed | by tests | by the audit |\n|---|---|---|---|---|")
    for kind, row in sorted(kinds.items()):
        print(f"| {kind} | " + " | ".join(map(str, row)) + " |")
    print("| all | " + " | ".join(str(sum(row[k] for row in kinds.values())) for k in range(4)) +
          " |")
    print(f"\n{len(results) - len(counted)} more do not build.\n")
    print("| survivor | before | after |\n|---|---|---|")
    for r in counted:
        if r["verdict"] == "survived":
            before, after = (r[key].replace("|", "\\|") for key in ("before", "after"))
            print(f"| {r['kind']}, `{r['file']}:{r['line']}` | `{before}` | `{after}` |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=pathlib.Path, required=True,
                        help="for the copy, its build and the results")
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--least", type=float, default=0.0,
                        help="share of mutants below which the exit status is 1")
    parser.add_argument("--list", action="store_true", help="only print the mutants")
    parser.add_argument("--report", action="store_true", help="only print the results so far")
    options = parser.parse_args()
    if options.count < 1:
        sys.exit(f"mutants: count = {options.count}, expected 1 or more")
    if options.list:
        for m in chosen(ROOT, options.count, options.seed):
            print(f"{m['file']}:{m['line']}: {m['kind']}: {m['before']}  ->  {m['after']}")
        return
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    workshop = Workshop(options.folder.resolve(), options.jobs)
    done = []
    if workshop.results.exists():
        done = [json.loads(line) for line in workshop.results.read_text().splitlines()]
    if not options.report:
        options.folder.mkdir(parents=True, exist_ok=True)
        workshop.prepare()
        known = {identity(r) for r in done}
        mutants = [m for m in chosen(workshop.tree, options.count, options.seed)
                   if identity(m) not in known]
        for number, mutant in enumerate(mutants, 1):
            result = {key: mutant[key] for key in mutant if key != "text"}
            begin = time.monotonic()
            result.update(workshop.judge(mutant))
            result["seconds"] = round(time.monotonic() - begin)
            done.append(result)
            with workshop.results.open("a") as file:
                file.write(json.dumps(result) + "\n")
            print(f"{number} of {len(mutants)}: {result['verdict']} in {result['seconds']} s: "
                  f"{mutant['file']}:{mutant['line']}: {mutant['after']}",
                  file=sys.stderr, flush=True)
    report(done)
    verdicts = collections.Counter(r["verdict"] for r in done)
    judged = verdicts["killed"] + verdicts["survived"]
    if verdicts["killed"] < options.least * judged:
        sys.exit(f"mutants: {verdicts['killed']} of {judged} are killed, "
                 f"expected {options.least:g} of them")


if __name__ == "__main__":
    main()
