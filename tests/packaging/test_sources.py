#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every source of a test is built: its name stands in a CMakeLists.txt of its folder or one above.

usage: test_sources.py [SOURCE_FOLDER]
Exit code 1 and a line for each that is not.
"""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2]) / "tests"
sources = sorted(root.glob("**/*_test.cpp"))
if not sources:
    sys.exit(f"test_sources: no *_test.cpp below {root}")
unbuilt = [
    source for source in sources
    if not any(source.name in re.split(r"[\s()/]+", (folder / "CMakeLists.txt").read_text())
               for folder in source.parents
               if folder.is_relative_to(root) and (folder / "CMakeLists.txt").exists())]
for source in unbuilt:
    print(f"{source.relative_to(root.parent)}: no CMakeLists.txt names it, so it never runs")
sys.exit(1 if unbuilt else 0)
