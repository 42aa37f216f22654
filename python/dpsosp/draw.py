# SPDX-License-Identifier: Apache-2.0
"""Draws the figures of a description, all in one process: python3 -m dpsosp.draw FILE... [--figure ID] [--to FILE].

A description is JSON or TOML with `figures`, a list of (or with one `figure`, which is called as the file is)

    id        the name of its files where `to` is not given, beside the description
    panels    each as `dpsosp` writes it (series, markers, lines, axes), or a call of a function of dpsosp.plots:
              kind, of (a frame; a path is taken from the description's folder) and the function's options
    columns   panels a row; 3
    title, caption, alternative   words for readers who do not see it
    to        files that are written, as .svg, .pdf or .png

beside them `methods`, the names whose places are their colours in all figures, and `rates`, slopes that stand under
the panels they belong to. The JSON of a page of `dpsosp`, as out/mine/index.json, is one; so is a folder with one. A
figure that was drawn from the same data in the same style with the same matplotlib is taken from the cache.
"""
from __future__ import annotations

import argparse
import contextlib
import hashlib
import importlib.metadata
import json
import logging
import os
import pathlib
import shutil
import sys
import tempfile
from typing import Any, Iterator, Mapping, Optional, Sequence

INSTALL = "install python3-matplotlib (pip install matplotlib), version 3.6 or later"
FORMATS = (".svg", ".pdf", ".png")
MOST_KEPT = 2000  # drawings in a cache
HERE = pathlib.Path(__file__).parent


class Refused(Exception):
    """One line on what is wrong with a description."""


class Unwritten(Exception):
    """One line on a file that cannot be written."""


def main(words: Optional[Sequence[str]] = None) -> int:
    parser = argparse.ArgumentParser(prog="dpsosp.draw", description=__doc__.split("\n")[0])
    parser.add_argument("files", nargs="+", metavar="FILE", help="a description, or a folder with its index.json")
    parser.add_argument("--figure", help="this one alone, by its id")
    parser.add_argument("--to", action="append", default=[], metavar="FILE", help="where it is written; of one figure")
    parser.add_argument("--formats", default="svg", help="of figures without `to`: svg, pdf, png; svg")
    parser.add_argument("--cache", metavar="FOLDER", help="the cache's folder; `none` for none")
    asked = parser.parse_args(words)
    try:
        with _cache(asked.cache) as cache:
            for line in draw(asked.files, asked.figure, asked.to, asked.formats.split(","), cache):
                print(line)
    except Refused as e:
        print(f"figures: {e}", file=sys.stderr)
        return 2
    except Unwritten as e:
        print(e, file=sys.stderr)
        return 3
    except ImportError as e:
        print(f"figures: {sys.executable} cannot draw ({e}); {INSTALL}", file=sys.stderr)
        return 1
    return 0


def draw(files: Sequence[str], only: Optional[str], to: Sequence[str], formats: Sequence[str],
         cache: pathlib.Path) -> Iterator[str]:
    """Draws what is not in the cache. The files, each when it is written."""
    jobs = []
    for name in files:
        place, about = _description(pathlib.Path(name))
        found = [f for f in about.get("figures", ()) if only in (None, f.get("id"))]
        if only is not None and not found:
            ids = ", ".join(f.get("id", "") for f in about.get("figures", ()))
            raise Refused(f"{place} has no figure '{only}', expected one of {ids or 'none'}")
        for f in found:
            targets = [pathlib.Path(t) for t in to] or [place.parent / t for t in f.get("to", ())]
            targets = targets or [place.parent / f"{f.get('id', 'figure')}.{ending}" for ending in formats]
            for target in targets:
                if target.suffix not in FORMATS:
                    raise Refused(f"{target}: a figure is {', '.join(FORMATS)}")
            jobs.append((place, f, about.get("methods", []), about.get("rates", []), targets))
    if to and len(jobs) != 1:
        ids = ", ".join(f.get("id", "") for _, f, *_ in jobs)
        raise Refused(f"--to writes one figure, expected --figure with one of {ids or 'none'}")
    refused = []
    for place, f, methods, rates, targets in jobs:
        try:
            yield from _drawn(place, f, methods, rates, targets, cache)
        except Refused as e:
            refused.append(str(e))
    if refused:
        raise Refused("\nfigures: ".join(refused))


def _drawn(place: pathlib.Path, f: Mapping[str, Any], methods: Sequence[str], rates: Sequence[Mapping[str, Any]],
           targets: Sequence[pathlib.Path], cache: pathlib.Path) -> Iterator[str]:
    try:
        panels = [_panel(p, place.parent, rates) for p in _panels(f)]
        digest = _digest(panels, f, methods)
        missing = {t.suffix for t in targets if not (cache / (digest + t.suffix)).is_file()}
        if missing:
            plots = _plots()
            made = plots.figure(panels, f.get("columns", 3), methods)
            with _writing(targets[0]):
                plots.save(made, *(cache / (digest + ending) for ending in sorted(missing)),
                           title=_plain(f.get("title", "")), alternative=_plain(_alternative(f)))
        for target in targets:
            kept = cache / (digest + target.suffix)
            beside = target.with_name(f".{target.name}.part")
            with _writing(target, beside):
                os.utime(kept)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(kept, beside)
                beside.replace(target)
            yield str(target)
    except (KeyError, TypeError, ValueError, OSError) as e:
        raise Refused(f"{place}: figure '{f.get('id', '')}': {e.args[0] if len(e.args) == 1 else e}") from e


@contextlib.contextmanager
def _writing(target: pathlib.Path, *parts: pathlib.Path) -> Iterator[None]:
    """Leaves no part of a file where the disk is full or the folder is closed."""
    try:
        yield
    except OSError as e:
        for part in parts:
            part.unlink(missing_ok=True)
        raise Unwritten(f"{target}: cannot write this file ({e.strerror})") from e


def _plots() -> Any:
    """The module that draws. A matplotlib that is broken is as good as none."""
    try:
        from . import plots
    except (Exception, SystemExit) as e:
        raise ImportError(str(e).split("\n")[0] or type(e).__name__) from e
    return plots


def _description(file: pathlib.Path) -> tuple[pathlib.Path, Mapping[str, Any]]:
    if file.is_dir():
        file = file / "index.json"
    try:
        if file.suffix == ".toml":
            import tomllib
            about = tomllib.loads(file.read_text(encoding="utf-8"))
        else:
            about = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as e:
        raise Refused(f"{file}: {e.strerror if isinstance(e, OSError) else e}") from None
    if not isinstance(about, dict):
        raise Refused(f"{file}: no description, which has `figures`")
    if about.get("figure"):
        about = {**about, "figures": [{**about["figure"], "id": file.stem}]}
    if about.get("forest") and not about.get("figures"):
        about = {**about, "figures": _forest(about["forest"])}
    return file, about


def _panels(f: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    if not f.get("panels"):
        raise Refused(f"figure '{f.get('id', '')}' has no panels")
    return f["panels"]


def _panel(panel: Mapping[str, Any], folder: pathlib.Path, rates: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """A panel with its paths found and its curves told of their slopes."""
    if "kind" in panel:
        return {**panel, "of": str(folder / panel["of"]) if isinstance(panel.get("of"), str) else panel.get("of")}
    origin = panel.get("origin", {})
    of_panel = {r["arm"]: r for r in rates if r.get("value") is not None and origin and
                (r.get("sweep"), r.get("part"), r.get("metric")) ==
                (origin.get("sweep"), origin.get("part"), panel.get("y", {}).get("label"))}
    if not of_panel:
        return dict(panel)
    return {**panel, "series": [s if s.get("dashed") or s.get("label") not in of_panel
                                else {**s, "slope": of_panel[s["label"]]} for s in panel["series"]]}


def _forest(groups: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The forest of a report's first page: the rows that have all three exponents."""
    rows = [(g, r) for g in groups if g.get("printed", True) for r in g.get("rows", ()) if len(r.get("rates", ())) >= 3]
    panels = [{"kind": "forest", "axis": axis, "of": [
        {**next((rate for rate in r["rates"] if rate["axis"] == axis), {"axis": axis}),
         "label": f"{r['method']}, {g['quantity']}"} for g, r in rows]} for axis in ("n", "d", "ε")]
    return [{"id": "forest", "title": "Claimed and measured exponents in n, d and ε", "panels": panels}] if rows else []


def _alternative(f: Mapping[str, Any]) -> str:
    return f.get("alternative") or f.get("caption") or f.get("title", "")


def _plain(markup: str) -> str:
    return markup.replace("_{", "_").replace("^{", "^").replace("}", "")


def _digest(panels: Any, f: Mapping[str, Any], methods: Any) -> str:
    """Of all that decides the bytes of a figure."""
    try:
        versions = [importlib.metadata.version(name) for name in ("matplotlib", "numpy")]
    except importlib.metadata.PackageNotFoundError as e:
        raise ImportError(f"no {e.name}") from None
    whole = hashlib.sha256(json.dumps([versions, panels, f, methods], sort_keys=True).encode())
    for file in (HERE / "plots.py", HERE / "_svg.py", HERE / "dpsosp.mplstyle"):
        whole.update(file.read_bytes())
    for panel in panels:
        if isinstance(panel.get("of"), str):
            read = pathlib.Path(panel["of"])
            for file in sorted(read.glob("*.csv")) if read.is_dir() else [read]:
                whole.update(file.read_bytes() if file.is_file() else b"")
    return whole.hexdigest()[:32]


@contextlib.contextmanager
def _cache(asked: Optional[str]) -> Iterator[pathlib.Path]:
    """A folder for drawings and for what matplotlib keeps; one that goes where none can be written."""
    if asked == "none":
        wanted = None
    elif asked:
        wanted = pathlib.Path(asked)
    else:
        home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
        wanted = pathlib.Path(home) / "dpsosp" / "figures"
    with contextlib.ExitStack() as stack:
        if wanted is not None:
            try:
                wanted.mkdir(parents=True, exist_ok=True)
                tempfile.TemporaryFile(dir=wanted).close()
            except OSError:
                wanted = None
        folder = wanted or pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        os.environ["MPLCONFIGDIR"] = str(folder)
        logging.getLogger("matplotlib").setLevel(logging.ERROR)  # that it looks for fonts, once, is no message
        yield folder
        _prune(folder)


def _prune(folder: pathlib.Path) -> None:
    """Removes what was not used for longest."""
    kept = [file for file in folder.iterdir() if file.suffix in FORMATS]
    for file in sorted(kept, key=lambda file: file.stat().st_mtime)[:-MOST_KEPT]:
        file.unlink(missing_ok=True)


if __name__ == "__main__":
    sys.exit(main())
