#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The site is made without a warning or a dead link, has a page for every algorithm and problem, and finds them.

usage: site_test.py PROGRAM BUILD_SCRIPT
Exit code 77, which skips the test, where Sphinx or its reader of Markdown is not installed.
"""
import importlib.util
import json
import pathlib
import re
import subprocess
import sys
import tempfile

PYTHON = "/usr/bin/python3"


def pages_that_hold(index, word):
    """Pages that the search of the site offers for a word, from the index that its script reads."""
    held = json.loads(re.fullmatch(r"Search\.setIndex\((.*)\);?\s*", index, flags=re.S).group(1))
    pages = set()
    for where in ("terms", "titleterms"):
        numbers = held[where].get(word, [])
        pages |= {held["docnames"][k] for k in (numbers if isinstance(numbers, list) else [numbers])}
    return pages


def main(program, build):
    if subprocess.run([PYTHON, "-c", "import myst_parser, sphinx"], capture_output=True, check=False).returncode != 0:
        print("skipped: python3-sphinx or python3-myst-parser is not installed")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        site = pathlib.Path(folder) / "site"
        run = subprocess.run([PYTHON, build, "--program", program, "--out", site, "--no-api"],
                             text=True, capture_output=True, check=False)
        if run.returncode != 0:
            sys.exit(run.stdout + run.stderr)
        index = (site / "searchindex.js").read_text(encoding="utf-8")
        for kind in ("algorithms", "problems"):
            listed = json.loads(subprocess.run([program, "list", kind, "--json"], text=True, capture_output=True, check=True).stdout)
            for row in listed:
                page = f"{kind}/{row['name']}"
                if not (site / f"{page}.html").exists():
                    sys.exit(f"the site has no page {page}.html")
        for word, page in (("rgda", "algorithms/xu-2026/dp-rgda"), ("octopu", "problems/octopus"), ("quiet", "commands")):
            if page not in pages_that_hold(index, word):
                sys.exit(f"the search for '{word}' does not find {page}")
        print(run.stdout, end="")


def spoilt(build):
    """The checks of the script see a dead link, a dead anchor and a resource from outside."""
    spec = importlib.util.spec_from_file_location("build", build)
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    with tempfile.TemporaryDirectory() as folder:
        site = pathlib.Path(folder)
        (site / "a.html").write_text('<a href="b.html"></a><a href="#x"></a><a id="y" href="#y"></a>'
                                     '<script src="https://example.org/s.js"></script>', encoding="utf-8")
        lines, _, _ = script.dead_ends(site)
        if len(lines) != 3:
            sys.exit(f"of three faults of a page these are seen: {lines}")


if __name__ == "__main__":
    spoilt(sys.argv[2])
    main(sys.argv[1], sys.argv[2])
