#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Paths and tests that the documents name in code font exist.

usage: document_names.py [SOURCE_FOLDER]
Exit code 1 and one line for each that does not.
"""
import pathlib
import re
import sys

TEST = re.compile(r"\b(?:TEST|TEST_F|TEST_P|TYPED_TEST|RC_GTEST_PROP|RC_GTEST_FIXTURE_PROP)\(\s*(\w+),\s*(\w+)")
NAMED_TEST = re.compile(r"[A-Z]\w*\.[A-Z]\w+")
NAMED_FILE = re.compile(r"[\w./-]+\.(?:cpp|hpp|md|toml|txt|csv|py|sh|cmake|svg|in)")
# Written by the program or by the reader, or the name of a kind of file.
WRITTEN = re.compile(r"(?:^|/)(?:out|build|data|mnist|randhie|cifar10|PREFIX)/|[A-Z]{3,}|smith|my-")


def documents(root):
    yield from (root / name for name in ("README.md", "CONTRIBUTING.md"))
    for folder in ("docs", "results", "benchmarks", "tests"):
        yield from sorted((root / folder).glob("**/*.md"))


def spans(text):
    """Code spans outside of blocks."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.S | re.M)
    return re.findall(r"`([^`\n]+)`", text)


def tests_of(root):
    names = set()
    for source in (root / "tests").glob("**/*.cpp"):
        names.update(f"{suite}.{name}" for suite, name in TEST.findall(source.read_text(encoding="utf-8")))
    return names


def missing(root):
    tests = tests_of(root)
    files = {str(f.relative_to(root)) for f in root.glob("**/*")
             if f.is_file() and f.relative_to(root).parts[0] not in (".git", "build", "out")}
    endings = {"/".join(f.split("/")[k:]) for f in files for k in range(f.count("/") + 1)}
    top = {f.split("/")[0] for f in files if "/" in f}
    lines, named = [], 0
    for page in documents(root):
        if not page.exists() or "results" == page.relative_to(root).parts[0] and page.name != "README.md":
            continue
        for span in spans(page.read_text(encoding="utf-8")):
            where = page.relative_to(root)
            if NAMED_TEST.fullmatch(span):
                named += 1
                if span not in tests:
                    lines.append(f"{where}: no test is called {span}")
            elif WRITTEN.search(span):
                continue
            elif NAMED_FILE.fullmatch(span) and "/" in span and "*" not in span:
                named += 1
                if span not in endings:
                    lines.append(f"{where}: there is no file {span}")
            elif re.fullmatch(r"[\w.-]+(?:/[\w.-]+)*/?", span) and "/" in span and span.split("/")[0] in top:
                named += 1
                if not (root / span).exists() and span not in endings:
                    lines.append(f"{where}: there is no {span}")
    return lines, named


if __name__ == "__main__":
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2])
    problems, named = missing(root)
    print("\n".join(problems))
    print(f"{named} paths and tests are named, {len(problems)} do not exist")
    if named < 300:
        sys.exit("too few names were read: the reader is broken")
    sys.exit(1 if problems else 0)
