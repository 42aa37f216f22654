#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Mutants of the code that privacy rests on: each is one small change, built in a copy of the tree
and run against the tests, and against the audit where they let it through. What survives is listed.

    tests/mutants/mutants.py --folder /tmp/mutants --count 300 --seed 1
    tests/mutants/mutants.py --folder /tmp/mutants --again

The folder holds the copy, its build and results.jsonl; a run goes on where the last one ended, on
the sources of its copy. Sources that have changed since need another folder; tests that have are
copied by --again, which judges the survivors once more.
"""

import argparse
import collections
import csv
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
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]

EQUIVALENT = pathlib.Path(__file__).with_name("equivalent.toml")
RECORD = pathlib.Path(__file__).with_name("judged.csv")  # of the run of tests/planted-bugs.md, if any

# What is changed, and the programs that test it.
AUDIT = ("test_audit", "Registry/EveryClaim.SurvivesReplayAndIsTight/c*:"
         "Registry/EveryClaim.SurvivesReplayAndIsTight/release*:"
         "Registry/EveryClaim.SurvivesReplayAndIsTight/abadi*:Redraw*:Keys*")
PARTS = {
    "privacy": (["privacy/src/**/*.cpp", "privacy/src/curator/*.hpp"],
                ["test_privacy", "test_privacy_pure", "test_second_order", "test_accounting",
                 "test_privacy_projection", "test_privacy_stat", "test_second_order_stat"]),
    "trusted": (["trusted/src/*.?pp", "trusted/include/dpsosp/trusted/**/*.hpp",
                 "problems/*/src/*records*.cpp", "problems/base/src/sampling.cpp"],
                ["test_trusted", "test_problems", "test_problems_memory", "test_problems_separable",
                 "test_problems_stat", "test_checks"]),
    "core": ([f"core/src/{name}" for name in
              ("stream.cpp", "philox.cpp", "philox-inl.hpp", "normals.cpp", "binomial.cpp",
               "discrete_gaussian.cpp")],
             ["test_core", "test_core_stat", "test_privacy", "test_problems"]),
}
# Files, and the program that tests them most directly: it comes first.
NEAREST = [("accounting/", "test_accounting"),
           ("alternate_sampler|exponential|gibbs|/net", "test_privacy_pure"),
           ("line_search|second_order|sparse_vector", "test_second_order"),
           ("projection", "test_privacy_projection")]
MEMORY = 8 << 30  # bytes that a test may ask for
# Programs whose slow tests are of these files alone.
ALONE = {"test_accounting": "accounting/|budget|ledger|query|session_plans"}
TIMED = "*Microseconds*"  # a machine that others use fails these by itself
SLOW, MOST = 0.5, 8.0  # seconds of a test that waits for all quicker ones, and of one left out

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
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
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
        self.tree, self.jobs = folder / "tree", jobs
        self.build = self.tree / "build" / "release"  # as in a checkout, for what ccache knows
        self.results = folder / "results.jsonl"
        self.original = folder / "original.json"  # of the file that is changed
        self.times = folder / "times.json"
        self.quick = False
        self.steps = {}  # by program: its quick tests, its slow ones, each with seconds of CPU

    def copy(self):
        partial = self.tree.with_name("tree.partial")
        shutil.rmtree(partial, ignore_errors=True)
        generated = {str(ROOT): {"build", "out", ".git"}}
        shutil.copytree(ROOT, partial, ignore=lambda at, names: generated.get(at, set()))
        partial.rename(self.tree)

    def renew_tests(self):
        """The tests of the tree from which this script is run, where they differ."""
        for path in sorted((ROOT / "tests").rglob("*")):
            there = self.tree / path.relative_to(ROOT)
            if path.is_file() and not (there.exists() and
                                       there.read_bytes() == path.read_bytes()):
                there.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, there)

    def prepare(self):
        if not self.tree.exists():
            self.copy()
        if self.original.exists():  # a run that was killed has left its mutant
            self.restore()
        os.environ.update(CCACHE_BASEDIR=str(self.tree.parent), RC_PARAMS="seed=20261120",
                          NINJA_STATUS="")
        # One source and one library are made anew for a mutant, and no program.
        settings = ["BUILD_SHARED_LIBS=ON", "CMAKE_BUILD_TYPE=Release", "DPSOSP_UNITY=OFF",
                    "CMAKE_LINK_DEPENDS_NO_SHARED=ON"]
        if shutil.which("ld.lld"):
            settings += [f"CMAKE_{kind}_LINKER_FLAGS=-fuse-ld=lld" for kind in ("EXE", "SHARED")]
        status, output = run(["cmake", "-S", str(self.tree), "-B", str(self.build), "-G", "Ninja",
                              *(f"-D{setting}" for setting in settings)], 600)
        if status != 0:
            sys.exit(f"mutants: the copy cannot be configured\n{output[-2000:]}")
        programs = sorted({p for _, tests in PARTS.values() for p in tests} | {AUDIT[0]})
        if not self.compile(programs, 7200):
            sys.exit("mutants: the copy does not build")
        measured = 0.0
        if self.times.exists():
            self.steps = json.loads(self.times.read_text())
            measured = self.times.stat().st_mtime
        for program in programs:
            if program not in self.steps or \
                    (self.build / "bin" / program).stat().st_mtime > measured:
                self.steps[program] = self.measure(program)
        self.times.write_text(json.dumps(self.steps))

    def measure(self, program):
        """Filters and seconds of CPU of the quick tests of a program and of the slow ones."""
        names = AUDIT[1] if program == AUDIT[0] else f"*-{TIMED}"
        listing = self.times.with_name("tests.json")
        begin = cpu_of_children()
        verdict = self.fails(program, names, 1800, [f"--gtest_output=json:{listing}"])
        seconds = cpu_of_children() - begin
        if verdict:
            sys.exit(f"mutants: unchanged sources fail {program}: {verdict}")
        if program == AUDIT[0]:
            return [[names, seconds]]
        tests = {f"{suite['name']}.{test['name']}": float(test["time"].rstrip("s"))
                 for suite in json.loads(listing.read_text())["testsuites"]
                 for test in suite["testsuite"]}
        slow = [name for name in sorted(tests, key=tests.get) if tests[name] > SLOW]
        share = sum(tests[name] for name in slow) / max(sum(tests.values()), 1e-3)
        if not slow:
            return [[names, seconds]]
        return [[f"{names}:" + ":".join(slow), (1 - share) * seconds],
                *([name, seconds * tests[name] / sum(tests.values())]
                  for name in slow if tests[name] <= MOST)]

    def compile(self, programs, seconds):
        status, _ = run(["cmake", "--build", str(self.build), f"-j{self.jobs}", "--target",
                         *programs], seconds)
        return status == 0

    def restore(self):
        original = json.loads(self.original.read_text())
        (self.tree / original["file"]).write_text(original["text"])
        self.original.unlink()

    def fails(self, program, names, cpu_seconds, more=()):
        """The first test that fails, or nothing."""
        status, output = run([str(self.build / "bin" / program), f"--gtest_filter={names}",
                              "--gtest_brief=1", "--gtest_fail_fast", *more],
                             60 + 20 * cpu_seconds, self.build, cpu_seconds)
        if status is None:
            return f"{program} takes too long"
        if status == 0:
            return None
        failed = re.search(r"\[  FAILED  \] ([\w./]+)", output)
        return failed.group(1) if failed else f"{program} ends with {status}"

    def tests_of(self, mutant):
        """Program, filter and seconds, in the order in which they are run. Of what is argued to
        change nothing the quick tests alone are asked whether it does."""
        file, argued = mutant["file"], self.quick or place(mutant) in equivalents()
        first = {program for pattern, program in NEAREST if re.search(pattern, file)}
        room = re.match(r"problems/(?!base)\w+/", file)
        others = [path.stem for path in self.tree.glob("problems/*/include/**/*.hpp")
                  if room and not str(path.relative_to(self.tree)).startswith(room[0])]
        steps = []
        for program in PARTS[mutant["part"]][1]:
            for number, (names, seconds) in enumerate(self.steps[program]):
                slow = number > 0
                of = names.split("/")[-1]  # a test of one problem of another room
                if argued and (slow or seconds > 10):
                    continue
                if slow and (not re.search(ALONE.get(program, ""), file) or
                             "/" in names and any(of.startswith(stem) for stem in others)):
                    continue
                steps.append((slow, program not in first, seconds, program, names))
        return [(program, names, seconds) for _, _, seconds, program, names in sorted(steps)]

    def judge(self, mutant, with_audit=False):
        path = self.tree / mutant["file"]
        whole = path.read_text()
        lines = whole.split("\n")
        lines[mutant["line"] - 1] = mutant["text"]
        partial = self.original.with_suffix(".partial")
        partial.write_text(json.dumps({"file": mutant["file"], "text": whole}))
        partial.rename(self.original)
        path.write_text("\n".join(lines))
        try:
            if not self.compile([*PARTS[mutant["part"]][1], AUDIT[0]], 3600):
                return {"verdict": "does not build"}
            killed = {}
            for program, names, seconds in self.tests_of(mutant):
                by = self.fails(program, names, 10 + 3 * seconds)
                if by:
                    killed["tests"] = by
                    break
            if with_audit or not (killed or self.quick or place(mutant) in equivalents()):
                killed["audited"] = True
                by = self.fails(*AUDIT, 10 + 3 * self.steps[AUDIT[0]][0][1])
                if by:
                    killed["audit"] = by
            dead = "tests" in killed or "audit" in killed
            return {"verdict": "killed" if dead else "survived", **killed}
        finally:
            self.restore()


def identity(mutant):
    return tuple(mutant[key] for key in ("file", "line", "column", "kind", "after"))


def place(mutant):
    """What names a mutant wherever its line has moved."""
    return tuple(mutant[key] for key in ("file", "before", "after"))


def equivalents():
    """Mutants that change nothing that is answered, bounded or drawn: place and reason."""
    return {(group["file"], before, after): group["why"]
            for group in tomllib.loads(EQUIVALENT.read_text()).get("group", [])
            for before, after in group["mutants"]}


def too_long(result):
    """Whether a limit of time is all that a mutant has met."""
    by = [result[key] for key in ("tests", "audit") if result.get(key)]
    return bool(by) and all(text.endswith("takes too long") for text in by)


def figures(results):
    """By kind: judged, killed, among them by time alone, equivalent, survivors."""
    why = equivalents()
    kinds = collections.defaultdict(lambda: [0] * 5)
    for r in results:
        if r["verdict"] == "does not build":
            continue
        killed = r["verdict"] == "killed"
        same = not killed and place(r) in why
        for at, counts in enumerate((True, killed, killed and too_long(r), same,
                                     not killed and not same)):
            kinds[r["kind"]][at] += counts
    return kinds


def table(results):
    """Figures by kind, in Markdown."""
    kinds = figures(results)
    total = [sum(row[k] for row in kinds.values()) for k in range(5)]
    lines = ["| kind | judged | killed | of these by a limit of time | equivalent | survived |",
             "|---|---|---|---|---|---|"]
    for kind, row in [*sorted(kinds.items()), ("all", total)]:
        lines.append(f"| {kind} | " + " | ".join(map(str, row)) + " |")
    return "\n".join(lines), total


def report(results):
    text, total = table(results)
    print(text)
    judged = [r for r in results if r["verdict"] != "does not build"]
    drawn = [r for r in judged if r["drawn"]]
    through = [r for r in judged if not r.get("tests")]
    print(f"\nScore: {total[1]} of {total[0] - total[3]}. {len(results) - len(judged)} more do not "
          f"build. Of {len(drawn)} that were drawn for it, the audit alone finds "
          f"{sum(bool(r.get('audit')) for r in drawn)}. It finds "
          f"{sum(bool(r.get('audit')) for r in through)} of the {len(through)} that the tests let "
          f"through. Seconds of CPU a mutant: "
          f"{sum(r['cpu'] for r in results) / max(1, len(results)):.1f}.\n")
    why = equivalents()
    print("| survivor | before | after | equivalent, since |\n|---|---|---|---|")
    for r in judged:
        if r["verdict"] == "survived":
            before, after = (r[key].replace("|", "\\|") for key in ("before", "after"))
            print(f"| {r['kind']}, `{r['file']}:{r['line']}` | `{before}` | `{after}` | "
                  f"{why.get(place(r), '')} |")


COLUMNS = ["kind", "file", "line", "before", "after", "verdict", "tests", "audit", "drawn", "cpu"]


def write_record(results, path):
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows(results)


def read_record(path):
    with path.open(newline="") as file:
        return [{**row, "drawn": row["drawn"] == "True", "cpu": float(row["cpu"])}
                for row in csv.DictReader(file)]


def latest(results):
    return list({identity(r): r for r in results}.values())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=pathlib.Path, required=True,
                        help="for the copy, its build and the results")
    parser.add_argument("--count", type=int, default=300, help="of mutants that build")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--audit", type=float, default=0.1,
                        help="share that the audit judges whatever the tests find")
    parser.add_argument("--least", type=float, default=0.0,
                        help="share of mutants below which the exit status is 1")
    parser.add_argument("--quick", action="store_true",
                        help="only quick tests, and the drawn share of the audit; --again judges "
                             "what they let through by all")
    parser.add_argument("--again", action="store_true",
                        help="judge the survivors that are not argued to be equivalent once more, "
                             "by the tests of this tree")
    parser.add_argument("--record", type=pathlib.Path, help="a CSV file to write the results to")
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
    workshop.quick = options.quick
    done = []
    if workshop.results.exists():
        done = latest(map(json.loads, workshop.results.read_text().splitlines()))
    if not options.report:
        options.folder.mkdir(parents=True, exist_ok=True)
        if options.again and workshop.tree.exists():
            workshop.renew_tests()
        workshop.prepare()
        known = {identity(r): r for r in done}
        mutants = chosen(workshop.tree, sys.maxsize, options.seed)
        if options.again:
            mutants = [m for m in mutants
                       if known.get(identity(m), {}).get("verdict") == "survived"
                       and place(m) not in equivalents()]
        else:
            mutants = [m for m in mutants if identity(m) not in known]
        judged = sum(r["verdict"] != "does not build" for r in done)
        for number, mutant in enumerate(mutants, 1):
            if not options.again and judged >= options.count:
                break
            result = {key: mutant[key] for key in mutant if key != "text"}
            result["drawn"] = random.Random(
                f"{options.seed} {identity(mutant)}").random() < options.audit
            begin, used = time.monotonic(), cpu_of_children()
            result.update(workshop.judge(mutant, result["drawn"]))
            result["seconds"] = round(time.monotonic() - begin)
            result["cpu"] = round(cpu_of_children() - used, 1)
            judged += result["verdict"] != "does not build"
            done.append(result)
            with workshop.results.open("a") as file:
                file.write(json.dumps(result) + "\n")
            print(f"{number}: {result['verdict']} by {result.get('tests', result.get('audit'))} "
                  f"in {result['cpu']} s: {mutant['file']}:{mutant['line']}: {mutant['after']}",
                  file=sys.stderr, flush=True)
    done = latest(done)
    report(done)
    if options.record:
        write_record(done, options.record)
    total = table(done)[1]
    if total[1] < options.least * (total[0] - total[3]):
        sys.exit(f"mutants: {total[1]} of {total[0] - total[3]} are killed, "
                 f"expected {options.least:g} of them")


if __name__ == "__main__":
    main()
