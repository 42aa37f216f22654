# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import argparse
import pathlib
import sys
from typing import Optional, Sequence

INSTALL = "install python3-jinja2 and python3-markdown-it (pip install jinja2 markdown-it-py)"


def main(words: Optional[Sequence[str]] = None) -> int:
    parser = argparse.ArgumentParser(prog="dpsosp.report", description="Makes the pages of a report.")
    parser.add_argument("folder", type=pathlib.Path, help="of a report, with its site.json")
    folder = parser.parse_args(words).folder
    try:
        from . import models, pages
    except (Exception, SystemExit) as e:  # a package that is broken is as good as none
        reason = str(e).split("\n")[0] or type(e).__name__
        print(f"pages: {sys.executable} cannot make them ({reason}); {INSTALL}", file=sys.stderr)
        return 1
    try:
        for address in pages.make(folder):
            print(folder / address)
    except models.Invalid as e:
        print(f"pages: {e}", file=sys.stderr)
        return 2
    except pages.Unwritten as e:
        print(e, file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
