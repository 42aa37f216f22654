# SPDX-License-Identifier: Apache-2.0
"""Figures with matplotlib: rates, traces, forests of exponents, contours, distributions, ranges.

    import dpsosp.plots as plots
    axes = plots.rates("out/mine", part="n")      # medians, ranges and claimed exponents of a sweep
    axes.set_xlabel("number of records")          # an Axes like any other
    plots.save(axes, "levels.pdf", "levels.svg")

Each function takes a frame: rows as dpsosp.frame gives them, a list of rows, a mapping of columns, a file of CSV or the
folder of a sweep. It draws on `ax`, or on new Axes in the style STYLE, and returns the Axes. Runs that failed, and values
that an axis cannot show, are left out, and a note below the axis counts them. Labels are text; `_{...}` and `^{...}`
set scripts. The same data give the same bytes with one version of matplotlib.
"""
from __future__ import annotations

import collections
import contextlib
import csv
import math
import os
import pathlib
import re
import textwrap
from typing import Any, Iterable, Mapping, Optional, Sequence, Union

import matplotlib
import matplotlib.style
import numpy as np
from matplotlib import ticker, transforms
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from . import _svg

Path = Union[str, "os.PathLike[str]"]
Columns = dict[str, list]

STYLE = pathlib.Path(__file__).with_name("dpsosp.mplstyle")
GUIDE = "#555555"
MARKERS = "osD^vPXh<>p"
GUIDES: tuple = ((0, (1.5, 1.8)), (0, (5, 2.5)), (0, (6, 2, 1, 2)), (0, (1, 3.5)), (0, (3, 1, 1, 1, 1, 1)))
FEW = 24  # points of a curve that has a mark and a bar at each
TEXTS = {"arm", "axis", "key", "label", "metric", "part", "reason", "run", "status", "sweep", "unit", "use", "verdict"}
WORDS = {"records": "records n", "dimension": "dimension d", "epsilon": "ε", "delta": "δ"}
TONES = {"confirmed": "#08735a", "bound met": "#08735a", "as claimed": "#08735a", "better": "#08735a",
         "refuted": "#b3261e", "slip": "#b3261e", "worse": "#b3261e", "open": "#c67c00"}

SHAPES = {"open": "^", "refuted": "s", "slip": "s", "worse": "s"}  # other words: a disc


# --- data -------------------------------------------------------------------------------------------------------------

def columns_of(frame: Any) -> Columns:
    """The columns of a frame; what is a number in text is a number, what is empty is NaN."""
    if isinstance(frame, (str, os.PathLike)):
        with open(frame, encoding="utf-8", newline="") as rows:
            frame = list(csv.DictReader(rows))
    if hasattr(frame, "columns"):
        found = {str(name): list(frame[name]) for name in frame.columns}
    elif isinstance(frame, Mapping):
        found = {name: list(values) for name, values in frame.items()}
    else:
        rows = list(frame)
        found = {name: [row.get(name) for row in rows] for name in dict.fromkeys(k for row in rows for k in row)}
    return {name: values if name in TEXTS else _numbers(values) for name, values in found.items()}


def _numbers(values: list) -> list:
    try:
        return [math.nan if v is None or v == "" else float(v) for v in values]
    except (TypeError, ValueError):
        return values


def _column(data: Columns, name: str) -> list:
    if name not in data:
        raise KeyError(f"no column {name}, expected one of {', '.join(data)}")
    return data[name]


def _groups(data: Columns, by: Optional[str]) -> dict[str, list[int]]:
    """Rows of each curve, in the order of the first ones. Runs that tuned are no results."""
    count = len(next(iter(data.values()), []))
    names = _column(data, by) if by else [""] * count
    use = data.get("use", [""] * count)
    groups: dict[str, list[int]] = {}
    for k in range(count):
        if use[k] != "tuning":
            groups.setdefault(str(names[k]), []).append(k)
    return groups


def _values(data: Columns, rows: Iterable[int], name: str, left_out: "collections.Counter[str]") -> dict[int, float]:
    """The values of the runs that finished, by row."""
    values, status = _column(data, name), data.get("status")
    kept = {}
    for k in rows:
        if status is not None and status[k] == "failed":
            left_out["runs failed"] += 1
        elif not math.isfinite(values[k]):
            left_out[f"runs without {name.rsplit('.', 1)[-1]}"] += 1
        else:
            kept[k] = values[k]
    return kept


def _notes(left_out: Mapping[str, int]) -> list[str]:
    return [f"{count} {what}" for what, count in left_out.items() if count]


# --- one panel --------------------------------------------------------------------------------------------------------

def text(markup: str) -> str:
    """Text with `_{...}` and `^{...}` as matplotlib wants it; all else is literal."""
    def script(m: "re.Match[str]") -> str:
        inside = re.sub(r"([#$%&~_^{}\\ ])", r"\\\1", m[2])
        return rf"${m[1]}{{\mathregular{{{inside}}}}}$"
    parts = re.split(r"([_^]\{[^{}]*\})", markup)
    return "".join(re.sub(r"([_^])\{([^{}]*)\}", script, p) if k % 2 else p.replace("$", r"\$")
                   for k, p in enumerate(parts))


def look(style: int) -> dict[str, Any]:
    """Colour and mark of curve `style`; the colours are those of the style sheet in use. Dashed lines are no curves."""
    colours = _colours()
    return {"color": colours[style % len(colours)], "marker": MARKERS[(style + style // len(colours)) % len(MARKERS)]}


def _colours() -> list:
    return matplotlib.rcParams["axes.prop_cycle"].by_key()["color"]


def looks(panels: Sequence[Mapping[str, Any]], methods: Sequence[str] = ()) -> dict[str, int]:
    """A style for each label of a figure. A method has the colour of its place in `methods`; its further curves have
    other marks, and after four other colours."""
    found: dict[str, int] = {}
    for panel in panels:
        for s in panel.get("series", ()):
            if s.get("dashed") or s.get("label", "") in found:
                continue
            key = s.get("algorithm", "")
            style = methods.index(key) if key in methods else s.get("style", 0)
            tried = 0
            while style in found.values():
                tried += 1
                style += len(_colours()) if key in methods and tried < 4 else 1
            found[s.get("label", "")] = style
    return found


def guides_of(panels: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Dashes of the guides of a figure: dots for claims, dashes for what schedules solved for, then others."""
    found: dict[str, Any] = {}
    others = 0
    for label in (s.get("label", "") for panel in panels for s in panel.get("series", ()) if s.get("dashed")):
        if label in found:
            continue
        if label.endswith("solved α"):
            found[label] = GUIDES[1]
        elif label.startswith("claimed") and GUIDES[0] not in found.values():
            found[label] = GUIDES[0]
        else:
            found[label] = GUIDES[2 + others % 3]
            others += 1
    return found


def panel(data: Mapping[str, Any], ax: Any = None, *, methods: Sequence[str] = (),
          styles: Optional[Mapping[str, int]] = None) -> Any:
    """Curves with intervals, reference lines and markers: one panel as `dpsosp` writes it to JSON."""
    with _style(ax):
        ax = ax or _new_axes()
        return _panel(ax, data, looks([data], methods) if styles is None else styles, guides_of([data]))


def _panel(ax: Any, data: Mapping[str, Any], styles: Mapping[str, int], guides: Mapping[str, Any]) -> Any:
    x_axis, y_axis = data.get("x", {}), data.get("y", {})
    log_x, log_y = x_axis.get("scale") == "log", y_axis.get("scale") == "log"
    left_out: "collections.Counter[str]" = collections.Counter()
    left_out.update(data.get("left_out", {}))
    curves = [_cleaned(s, log_x, log_y, left_out) for s in data.get("series", ())]
    positive = [v for c in curves for v in (*c["y"], *c.get("low", ())) if v > 0]
    floor = min(positive, default=1.0) / 1.3
    shapes = {s.get("style", 0): look(styles[s.get("label", "")]) for s in data.get("series", ()) if not s.get("dashed")}
    for c in sorted(curves, key=lambda c: not c.get("dashed", False)):
        label = text(c.get("label", ""))
        if c.get("dashed"):
            colour = shapes.get(c.get("style", 0), {"color": GUIDE})["color"]
            ax.plot(c["x"], c["y"], color=colour, linewidth=1.1, linestyle=guides[c.get("label", "")], label=label, zorder=2.2,
                    marker="")
        else:
            _curve(ax, c, look(styles[c.get("label", "")]), label, floor if log_y else None, left_out)
    for k, line in enumerate(data.get("lines", ())):
        draw = ax.axvline if line.get("direction") == "vertical" else ax.axhline
        draw(line["value"], color=GUIDE, linewidth=1, linestyle=GUIDES[(k + 2) % len(GUIDES)],
             label=text(line.get("label", "")), zorder=1.8)
    for m in data.get("markers", ()):
        shape = shapes.get(m.get("style", 0)) or look(m.get("style", 0))
        ax.plot([m["x"]], [m["y"]], linestyle="", marker=shape["marker"], color=shape["color"], zorder=4)
        ax.plot([m["x"]], [m["y"]], linestyle="", marker="o", markersize=9, fillstyle="none", color="#222222",
                label=text(m.get("label", "")), zorder=4)
    _set_axis(ax, "x", x_axis)
    _set_axis(ax, "y", y_axis)
    if data.get("title"):
        ax.set_title(_fitting(data["title"], ax.bbox.width, ax, 5.9))
    slopes = [(s, look(styles[s.get("label", "")])) for s in data.get("series", ()) if s.get("slope")]
    _below(ax, slopes, _notes(left_out))
    return ax


def _cleaned(series: Mapping[str, Any], log_x: bool, log_y: bool, left_out: "collections.Counter[str]") -> dict[str, Any]:
    """The curve as arrays, without what its axes cannot show."""
    c = dict(series)
    for name in ("x", "y", "low", "high"):
        if series.get(name):
            c[name] = np.array([math.nan if v is None else v for v in series[name]], dtype=float)
    c.setdefault("x", np.array([]))
    c.setdefault("y", np.array([]))
    shown = np.isfinite(c["y"])
    for name, is_log in (("x", log_x), ("y", log_y)):
        if is_log:
            hidden = shown & (c[name] <= 0)
            left_out[f"points at or below 0, where {name} is logarithmic"] += int(hidden.sum())
            shown &= ~hidden
    c["y"] = np.where(shown, c["y"], math.nan)
    return c


def _curve(ax: Any, c: Mapping[str, Any], shape: Mapping[str, Any], label: str, floor: Optional[float],
           left_out: "collections.Counter[str]") -> None:
    x, y, count = c["x"], c["y"], len(c["x"])
    drawn = np.isfinite(y)
    if "low" in c:
        low, high = c["low"], c["high"]
        if floor is not None:
            cut = drawn & (low <= 0)
            left_out["intervals reach 0 or below"] += int(cut.sum())
            low = np.where(cut, floor, low)
        shown = drawn & np.isfinite(low) & np.isfinite(high)
        ax.fill_between(x, low, high, where=shown, color=shape["color"], alpha=0.15, linewidth=0, zorder=2)
        if count <= FEW:
            ax.vlines(x[shown], low[shown], high[shown], color=shape["color"], linewidth=1, zorder=2.4)
    near = np.concatenate(([False], drawn, [False]))
    lonely = drawn & ~near[:-2] & ~near[2:]
    step = 1 if count <= FEW else count // 6
    first = 0 if step == 1 else int(step * (MARKERS.index(shape["marker"]) + 0.5) / len(MARKERS))
    marked = [k for k in range(count) if lonely[k] or (drawn[k] and k % step == first)]
    ax.plot(x, y, label=label, zorder=3, markevery=marked, markeredgecolor="white",
            drawstyle="steps-post" if c.get("steps") else "default", **shape)


def _set_axis(ax: Any, name: str, axis: Mapping[str, Any]) -> None:
    if axis.get("label"):
        if name == "x":
            ax.set_xlabel(_fitting(axis["label"], ax.bbox.width, ax))
        else:
            ax.set_ylabel(_fitting(axis["label"], ax.bbox.height, ax))
    if axis.get("scale") == "log":
        (ax.set_xscale if name == "x" else ax.set_yscale)("log")
    if axis.get("range"):
        (ax.set_xlim if name == "x" else ax.set_ylim)(*_with_room(*axis["range"], axis.get("scale") == "log"))
    low, high = ax.get_xlim() if name == "x" else ax.get_ylim()
    of = ax.xaxis if name == "x" else ax.yaxis
    of.set_major_formatter(ticker.FuncFormatter(lambda v, _: number(v)))
    if axis.get("scale") != "log":
        return of.set_major_locator(ticker.MaxNLocator(6, steps=[1, 2, 5, 10]))
    decades = math.log10(high / low)
    if decades < 0.7:
        of.set_major_locator(ticker.MaxNLocator(5, steps=[1, 2, 5, 10]))
        return of.set_minor_locator(ticker.NullLocator())
    tens = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    seen = {subs: sum(low <= m * 10.0**k <= high for k in tens for m in subs) for subs in ((1,), (1, 3), (1, 2, 5))}
    of.set_major_locator(ticker.LogLocator(subs=next((s for s, count in seen.items() if count >= 3), (1, 2, 5)), numticks=7))
    of.set_minor_locator(_Between(subs=range(2, 10) if decades < 3 else (2, 5), numticks=12))
    of.set_minor_formatter(ticker.NullFormatter())


def _with_room(low: float, high: float, log: bool) -> tuple[float, float]:
    """A range with room for lines and marks at its ends."""
    room = 0.015
    return (low * (low / high) ** room, high * (high / low) ** room) if log else (low - room * (high - low), high + room * (high - low))


class _Between(ticker.LogLocator):
    """Ticks that are seen alone: each takes a millisecond."""

    def tick_values(self, low: float, high: float) -> Any:
        values = super().tick_values(low, high)
        return values[(values >= low) & (values <= high)]


def _fitting(markup: str, length: float, ax: Any, letter: float = 5.2) -> str:
    """A label in lines of a length in pixels, by the mean width of a letter in points."""
    return "\n".join(map(text, _wrapped(markup, max(12, int(length / ax.figure.dpi * 72 / letter))).split("\n")))


def _wrapped(words: str, width: int) -> str:
    def lines(most: int) -> list:
        return textwrap.wrap(words, most, break_on_hyphens=False, break_long_words=False)
    first = lines(width)
    even = lines(len(words) // max(1, len(first)) + 4)
    return "\n".join(even if len(even) == len(first) else first)


def number(value: float, digits: int = 4) -> str:
    """As a tick has it: 0.02, 300, 2×10⁵."""
    if value == 0 or 1e-3 <= abs(value) * (1 + 1e-9) < 1e4:
        return f"{value:.{digits}g}".replace("-", "−")
    mantissa, power = f"{value:.{digits - 1}e}".split("e")
    mantissa = mantissa.rstrip("0").rstrip(".").replace("-", "−")
    scripts = str(int(power)).replace("-", "−")
    before = {"1": "", "−1": "−"}.get(mantissa, mantissa + "×")
    return text(f"{before}10^{{{scripts}}}")


def _below(ax: Any, slopes: Sequence[Any], notes: Sequence[str]) -> None:
    """What stands under the axis: a line for each slope that was measured, and what is not drawn."""
    used = 35 + 11 * ax.get_xlabel().count("\n")
    shift = transforms.ScaledTranslation(0, -used / 72, ax.figure.dpi_scale_trans)
    lines = [Line2D([], [], label=_named(s, len(slopes) > 1), markeredgecolor="white", **shape) for s, shape in slopes]
    lines += [Line2D([], [], linestyle="", label=_wrapped("Not drawn: " + "; ".join(notes), 52))] if notes else []
    if lines:
        legend = ax.legend(handles=lines, loc="upper left", bbox_to_anchor=(0, 0), bbox_transform=ax.transAxes + shift,
                           fontsize=7.8, borderpad=0, labelspacing=0.35, handlelength=2.2, handletextpad=0.5)
        legend.set_gid("below")
        ax.legend_ = None
        ax.add_artist(legend).set_clip_on(False)  # a legend of the user's does not take its place


def _named(series: Mapping[str, Any], named: bool) -> str:
    """A slope, after the name of its curve where there are several."""
    slope = slope_text(series["slope"])
    if not named or not series.get("label"):
        return slope
    return f"{text(series['label'])}{': ' if len(series['label']) + len(slope) < 44 else chr(10)}{slope}"


def notes_of(ax: Any) -> str:
    """The note on what Axes leave out, empty where all is drawn."""
    return " ".join(t.get_text().replace("\n", " ") for a in ax.artists if a.get_gid() == "below"
                    for t in a.get_texts() if t.get_text().startswith("Not drawn"))


def _new_axes() -> Any:
    return Figure(layout="constrained").add_subplot()


def _style(ax: Any) -> Any:
    """The style of new Axes; what is drawn on given ones keeps theirs."""
    return matplotlib.rc_context() if ax is not None else style()


def style() -> Any:
    """A context in which figures look as those of dpsosp, whatever the settings around it."""
    return matplotlib.style.context(["default", STYLE])


# --- kinds of figures -------------------------------------------------------------------------------------------------

def rates(frame: Any, x: Optional[str] = None, y: Optional[str] = None, by: str = "arm", *, part: Optional[str] = None,
          claimed: Union[None, float, Mapping[str, Any]] = None, log: bool = True, ax: Any = None,
          methods: Sequence[str] = ()) -> Any:
    """A quantity against what it depends on: medians over seeds, intervals from the least to the largest.

    Of a sweep's folder the part `part` with its first axis and metric, its measured slopes and claimed exponents; of
    other frames columns x and y. `claimed` is an exponent, or one (or a pair) for a curve's name: a guide line through
    its first point. The table of a sweep's cells is drawn as it is.
    """
    slopes: dict[str, dict[str, Any]] = {}
    if isinstance(frame, (str, os.PathLike)) and pathlib.Path(frame).is_dir():
        frame, part = _part_of(pathlib.Path(frame), part)
    data = columns_of(frame) if not isinstance(frame, _Part) else frame.cells
    measured = [name[:-7] for name in data if name.endswith(".median")]
    y = y or (measured[0] if measured else None)
    if y is None:
        raise KeyError(f"rates: y is missing, expected one of {', '.join(data)}")
    x = x or next((n for n in (list(data)[1:2] if measured else ()) if not n.endswith(".median")), "records")
    if isinstance(frame, _Part):
        slopes = frame.slopes(x, y)
    left_out: "collections.Counter[str]" = collections.Counter()
    curves, guides = [], []
    for name, rows in _groups(data, by if by in data else None).items():
        for label, some in _slices(data, name, rows, x, measured):
            points = _cells(data, some, x, y, y in measured, left_out)
            if not points:
                continue
            c = {"label": label, "style": len(curves), **{k: [p[k] for p in points] for k in ("x", "y", "low", "high")}}
            if "algorithm" in data:
                c["algorithm"] = data["algorithm"][some[0]]
            slope = slopes.get(label) or slopes.get(name)
            if slope and math.isfinite(slope["slope"]):
                c["slope"] = slope
            exponents = claimed.get(name) if isinstance(claimed, Mapping) else claimed
            if exponents is None and slope and not slope.get("unit"):
                exponents = [v for v in (slope["claimed_low"], slope["claimed_high"]) if math.isfinite(v)]
            curves.append(c)
            for e in dict.fromkeys(np.atleast_1d(exponents).tolist() if exponents is not None else ()):
                start = next((p for p in points if p["y"] > 0), None)
                if start:
                    guides.append({"label": "claimed exponent", "style": -1, "dashed": True, "x": c["x"],
                                   "y": [start["y"] * (v / start["x"]) ** e for v in c["x"]]})
    scale = "log" if log else "linear"
    title = f"{part}" if part else ""
    return panel({"title": title, "series": guides + curves, "left_out": left_out, "x": {"label": _words(x), "scale": scale},
                  "y": {"label": _words(y), "scale": scale}}, ax, methods=methods)


class _Part:
    """A part of a sweep's folder: its table of cells and its slopes."""

    def __init__(self, folder: pathlib.Path, name: str) -> None:
        self.name, self.cells = name, columns_of(folder / f"cells-{name}.csv")
        file = folder / "slopes.csv"
        self.all = columns_of(file) if file.is_file() else {}

    def slopes(self, x: str, y: str) -> dict[str, dict[str, Any]]:
        rows = [{k: v[i] for k, v in self.all.items()} for i in range(len(self.all.get("arm", ())))]
        return {r["arm"]: r for r in rows if (r["part"], r["axis"], r["metric"]) == (self.name, x, y)}


def _part_of(folder: pathlib.Path, part: Optional[str]) -> tuple[_Part, str]:
    names = sorted(f.stem[6:] for f in folder.glob("cells-*.csv"))
    if not names or (part is not None and part not in names):
        raise FileNotFoundError(f"{folder} has no part {part or ''}, expected {', '.join(names) or 'the folder of a sweep'}")
    if part is None and len(names) > 1:
        raise ValueError(f"{folder} has several parts, expected part={' or part='.join(names)}")
    return _Part(folder, part or names[0]), part or names[0]


def _slices(data: Columns, name: str, rows: list[int], x: str, measured: Sequence[str]) -> list[tuple[str, list[int]]]:
    """The curves of one arm: one for each setting of the other axes of a sweep's table."""
    others = []
    for column in list(data)[1:] if measured else ():
        if column.endswith((".median", ".low", ".high", ".n")) or column == "start":
            break
        if column != x:
            others.append(column)
    slices: dict[str, list[int]] = {}
    for k in rows:
        at = ", ".join(f"{o.rsplit('.', 1)[-1]} = {_plain(data[o][k])}" for o in others)
        slices.setdefault(at, []).append(k)
    return [(f"{name} ({at})" if at and len(slices) > 1 else name, some) for at, some in slices.items()]


def _plain(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _cells(data: Columns, rows: list[int], x: str, y: str, is_cell: bool,
           left_out: "collections.Counter[str]") -> list[dict[str, float]]:
    points = []
    if is_cell:
        for k in rows:
            left_out["runs failed"] += int(data["failed"][k]) if "failed" in data else 0
            point = {"x": _column(data, x)[k], "y": data[y + ".median"][k], "low": data[y + ".low"][k],
                     "high": data[y + ".high"][k]}
            if math.isfinite(point["y"]):
                points.append(point)
    else:
        at: dict[float, list[float]] = {}
        for k, value in _values(data, rows, y, left_out).items():
            at.setdefault(_column(data, x)[k], []).append(value)
        points = [{"x": v, "y": float(np.median(all)), "low": min(all), "high": max(all)} for v, all in at.items()]
    return sorted(points, key=lambda p: p["x"])


def trace(frame: Any, y: str, x: str = "step", by: Optional[str] = None, *, log: bool = True, ax: Any = None,
          methods: Sequence[str] = ()) -> Any:
    """A quantity along the steps of runs; a band where several runs have one step."""
    data = columns_of(frame)
    ax = rates(data, x, y, by or "", log=log, ax=ax, methods=methods)
    if log:
        ax.set_xscale("linear")
        _set_axis(ax, "x", {"label": _words(x)})
    return ax


def forest(frame: Any, axis: Optional[str] = None, *, part: Optional[str] = None, ax: Any = None) -> Any:
    """Claimed and measured exponents, a row each: label (or arm), slope, low, high, claimed_low, claimed_high, and
    where there are zone_low, zone_high and word (or verdict). Of a sweep's folder its slopes along `axis`."""
    if isinstance(frame, (str, os.PathLike)) and pathlib.Path(frame).is_dir():
        frame = pathlib.Path(frame) / "slopes.csv"
    data = columns_of(frame)
    count = len(next(iter(data.values()), []))
    rows = [{k: v[i] for k, v in data.items()} for i in range(count)
            if (axis is None or data["axis"][i] == axis) and (part is None or data["part"][i] == part)]
    with _style(ax):
        ax = ax or _new_axes()
        for k, r in enumerate(rows):
            get = lambda name: r[name] if isinstance(r.get(name), float) else math.nan  # noqa: E731
            word = r.get("word") or r.get("verdict") or ""
            if get("zone_low") < get("zone_high"):
                ax.barh(k, get("zone_high") - get("zone_low"), left=get("zone_low"), height=0.62, color="#dde1e5", zorder=1.5,
                        label="counts as claimed")
            ends = {get("claimed_low"), get("claimed_high")}
            ax.vlines([v for v in ends if math.isfinite(v)], k - 0.36, k + 0.36, color="#16191d", linewidth=1.8,
                      label="claimed", zorder=2)
            if len(ends) == 2 and all(map(math.isfinite, ends)):  # any exponent between the two
                ax.hlines(k - 0.36, *sorted(ends), color="#16191d", linewidth=1.2, zorder=2)
            value = r.get("slope", r.get("value"))
            if isinstance(value, float) and math.isfinite(value):
                colour = next((tone for start, tone in TONES.items() if word.startswith(start)), GUIDE)
                hollow = word.startswith(("bound met", "slip", "vacuous"))
                ax.hlines(k, get("low"), get("high"), color=colour, linewidth=1.6, zorder=3)
                ax.plot([value], [k], marker=next((m for start, m in SHAPES.items() if word.startswith(start)), "o"), linestyle="", color=colour, markersize=5, zorder=4,
                        markerfacecolor="white" if hollow else colour, label=f"measured: {word}" if word else "measured")
        _rows_axis(ax, [str(r.get("label", r.get("arm", ""))) for r in rows])
        ax.set_xlabel(f"exponent in {_words(axis)}" if axis else "exponent")
        low, high = ax.get_xlim()
        ax.xaxis.set_major_locator(ticker.MultipleLocator(0.25 if high - low < 1.2 else 0.5 if high - low < 4 else 1))
        ax.xaxis.set_major_formatter(ticker.FuncFormatter(lambda v, _: _fraction(v).replace("-", "−")))
        missing = sum(not isinstance(r.get("slope", r.get("value")), float) or not math.isfinite(r.get("slope", r.get("value")))
                      for r in rows)
        _below(ax, [], _notes({"exponents not measured": missing}))
        return ax


def ranges(frame: Any, value: str, by: str = "arm", *, log: bool = False, ax: Any = None) -> Any:
    """The median and the range of a quantity over the runs of each arm, a row each."""
    data = columns_of(frame)
    left_out: "collections.Counter[str]" = collections.Counter()
    with _style(ax):
        ax = ax or _new_axes()
        names = []
        for name, rows in _groups(data, by).items():
            values = np.array(list(_values(data, rows, value, left_out).values()))
            if log:
                left_out["runs at or below 0, where x is logarithmic"] += int((values <= 0).sum())
                values = values[values > 0]
            colour = look(len(names))["color"]
            if values.size:
                ax.hlines(len(names), values.min(), values.max(), color=colour, linewidth=1.6)
                ax.plot(values, [len(names)] * values.size, "|", color=colour, markersize=6)
                ax.plot([np.median(values)], [len(names)], "o", color=colour, markersize=5.5, markeredgecolor="white")
            names.append(name)
        _set_axis(ax, "x", {"label": _words(value), "scale": "log" if log else "linear"})
        _rows_axis(ax, names)
        _below(ax, [], _notes(left_out))
        return ax


def _rows_axis(ax: Any, names: Sequence[str]) -> None:
    ax.set_yticks(range(len(names)), ["\n".join(map(text, _wrapped(n, 46).split("\n"))) for n in names], linespacing=1.0)
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.grid(False, axis="y")
    ax.tick_params(axis="y", length=0)


def ecdf(frame: Any, value: str, by: Optional[str] = None, *, log: bool = False, ax: Any = None,
         methods: Sequence[str] = ()) -> Any:
    """The share of runs at or below each value. A run that failed has none: its curve ends below 1."""
    data = columns_of(frame)
    left_out: "collections.Counter[str]" = collections.Counter()
    curves = []
    for name, rows in _groups(data, by).items():
        values = sorted(_values(data, rows, value, left_out).values())
        share = [(k + 1) / len(rows) for k in range(len(values))]
        curves.append({"label": name, "style": len(curves), "steps": True, "x": values, "y": share})
    return panel({"series": curves, "left_out": left_out, "x": {"label": _words(value), "scale": "log" if log else "linear"},
                  "y": {"label": "share of runs", "range": [0, 1.02]}}, ax, methods=methods)


def contour(frame: Any, x: str = "x", y: str = "y", z: str = "value", *, points: Sequence[Mapping[str, Any]] = (),
            labels: Sequence[str] = (), levels: int = 26, label: str = "F", ax: Any = None) -> Any:
    """Level lines at quantiles of the values, so that equal areas lie between neighbours, and marked points. `labels` are
    those of the axes, `label` that of the values.

    A frame of rows x, y, value on a grid, or a mapping of x (m), y (n) and `values` (n × m).
    """
    if isinstance(frame, Mapping) and "values" in frame:
        xs, ys, values = (np.asarray(frame[k], dtype=float) for k in ("x", "y", "values"))
    else:
        data = columns_of(frame)
        (xs, i), (ys, j) = (np.unique(_column(data, k), return_inverse=True) for k in (x, y))
        values = np.full((ys.size, xs.size), math.nan)
        values[j, i] = _column(data, z)
    finite = np.sort(values[np.isfinite(values)])
    if xs.size < 2 or ys.size < 2 or finite.size < 2:
        raise ValueError(f"contour: {ys.size} × {xs.size} points with {finite.size} values, expected a grid")
    at = np.unique(finite[np.arange(1, levels + 1) * finite.size // (levels + 1)])
    with _style(ax):
        ax = ax or _new_axes()
        lines = ax.contour(xs, ys, values, levels=at, linewidths=1, norm=matplotlib.colors.BoundaryNorm(at, 256, extend="both"))
        bar = ax.figure.colorbar(lines, cax=ax.inset_axes([1.03, 0, 0.035, 1]), ticks=at[::5])
        for drawn in bar.ax.collections:
            drawn.set_clip_on(False)  # matplotlib names the clip path of these after its address in memory
        bar.ax.set_yticklabels([f"{v:.3g}".replace("-", "−") for v in at[::5]])
        bar.set_label(text(label))
        for name, axis_label in zip("xy", labels):
            _set_axis(ax, name, {"label": axis_label})
        seen: set[str] = set()
        for p in points:
            shape = look(p.get("style", 0) + 1)
            ax.plot([p["x"]], [p["y"]], linestyle="", marker=shape["marker"], color=shape["color"], markersize=7,
                    markeredgecolor="white", label="" if p["label"] in seen else text(p["label"]))
            seen.add(p["label"])
        _below(ax, [], _notes({"values not finite": int(values.size - finite.size)}))
        return ax


def slope_text(slope: Mapping[str, Any]) -> str:
    """−0.436 [−0.466, −0.409] for −1/2 to −1/3."""
    value = slope.get("slope", slope.get("value"))
    out = f"{value:+.3f} [{slope['low']:+.3f}, {slope['high']:+.3f}]"
    low, high = (slope.get(k) if slope.get(k) is not None else math.nan for k in ("claimed_low", "claimed_high"))
    if math.isfinite(low) and math.isfinite(high):
        out += " for " + " to ".join(dict.fromkeys((_fraction(low), _fraction(high))))
    return out.replace("-", "−")


def _fraction(exponent: float) -> str:
    for denominator in range(1, 15):
        numerator = exponent * denominator
        if abs(numerator - round(numerator)) < 2e-3:
            return "0" if round(numerator) == 0 else f"{round(numerator):+d}" + (f"/{denominator}" if denominator > 1 else "")
    return f"{exponent:+.3f}"


def _words(column: str) -> str:
    return WORDS.get(column) or column.rsplit(".", 1)[-1].replace("_", " ")


# --- whole figures ----------------------------------------------------------------------------------------------------

def figure(panels: Sequence[Mapping[str, Any]], columns: int = 3, methods: Sequence[str] = ()) -> Figure:
    """Panels of one size in rows, one legend below. A panel is data, as `dpsosp` writes it, or a call: {"kind": "rates",
    "of": "out/mine", "part": "n"} draws rates("out/mine", part="n")."""
    with style():
        columns = max(1, min(columns, len(panels)))
        rows = -(-len(panels) // columns)
        lines = max([len(p["of"]) for p in panels if p.get("kind") == "forest" and isinstance(p["of"], list)], default=0)
        size = (2.5 if columns > 1 else 3.9, 0.27 * lines + 0.1 if lines else 1.95 if columns > 1 else 2.7)
        made = Figure(figsize=(columns * size[0], rows * size[1]))
        styles, guides = looks(panels, methods), guides_of(panels)
        for k, data in enumerate(panels):
            ax = made.add_axes([k % columns / columns, 1 - (k // columns + 1) / rows, 1 / columns, 1 / rows], label=str(k))
            if "kind" not in data:
                _panel(ax, data, styles, guides)
                continue
            options = {name: value for name, value in data.items() if name not in ("kind", "of", "title")}
            KINDS[data["kind"]](data["of"], ax=ax, **options)
            if data.get("title"):
                ax.set_title(_fitting(data["title"], ax.bbox.width, ax, 5.9))
            if data["kind"] == "forest" and k % columns:
                ax.set_yticklabels([])
        _arrange(made, columns, size)
        return made


def _arrange(made: Figure, columns: int, size: tuple[float, float]) -> None:
    """Gives all panels one size and the page what their labels and the legend take."""
    renderer = FigureCanvasAgg(made).get_renderer()
    panels, gap, outer, dpi = made.axes, 0.14, 0.06, made.dpi
    rows = -(-len(panels) // columns)
    sides = np.zeros((4, max(columns, rows)))  # left and right of columns, above and below rows
    minor = [(axis, axis.get_minor_locator()) for ax in panels for axis in (ax.xaxis, ax.yaxis)]
    for axis, _ in minor:  # they take no room, and more time than all else
        axis.set_minor_locator(ticker.NullLocator())
    for k, ax in enumerate(panels):
        box, around = ax.bbox, ax.get_tightbbox(renderer)
        column, row = k % columns, k // columns
        for side, at, room in ((0, column, box.x0 - around.x0), (1, column, around.x1 - box.x1),
                               (2, row, around.y1 - box.y1), (3, row, box.y0 - around.y0)):
            sides[side, at] = max(sides[side, at], room / dpi)
    for axis, locator in minor:
        axis.set_minor_locator(locator)
    width = float(sides[:2, :columns].sum()) + columns * size[0] + (columns - 1) * gap + 2 * outer
    below = legend(made, width)
    box = below.get_window_extent(renderer) if below else None
    foot = box.height / dpi + 0.12 if box else 0.0
    width = max(width, box.width / dpi + 2 * outer if box else 0.0)
    height = float(sides[2:, :rows].sum()) + rows * size[1] + (rows - 1) * gap + foot + 2 * outer
    made.set_size_inches(width, height)
    y = height - outer
    for row in range(rows):
        x = outer
        y -= sides[2, row] + size[1]
        for column, ax in enumerate(panels[row * columns:(row + 1) * columns]):
            x += sides[0, column]
            ax.set_position([x / width, y / height, size[0] / width, size[1] / height])
            x += size[0] + sides[1, column] + gap
        y -= sides[3, row] + gap
    if below:
        below.set_bbox_to_anchor((0.5, outer / height), made.transFigure)


def legend(made: Figure, width: float) -> Any:
    """One legend at the foot, each label once: curves, then guides and lines. None where nothing has a name."""
    entries: dict[str, Any] = {}
    for ax in made.axes:
        for handle, label in zip(*ax.get_legend_handles_labels()):
            entries.setdefault(label, handle)
    order = sorted(entries, key=lambda label: getattr(entries[label], "get_marker", lambda: "o")() in ("", "None"))
    if not order:
        return None
    longest = max(len(re.sub(r"\$.*?\$", "xx", label)) for label in order)
    fits = max(1, int(width * 72 // (longest * 5.2 + 42)))
    return made.legend([entries[label] for label in order], order, loc="lower center", ncol=min(fits, len(order)))


def save(of: Any, *files: Path, title: str = "", alternative: str = "") -> None:
    """Writes Axes or a figure as SVG, PDF or PNG, without dates: the same figure is the same bytes."""
    made = of if isinstance(of, Figure) else of.figure
    with style():
        _laid_out(made)
    about = {"Title": title, "Creator": "dpsosp"}
    metadata = {".svg": {**about, "Date": None, "Description": alternative or title},
                ".pdf": {**about, "CreationDate": None, "Subject": alternative or title}, ".png": {"Software": None, "Title": title}}
    for file in map(pathlib.Path, files):
        if file.suffix not in metadata:
            raise ValueError(f"{file}: a figure is .svg, .pdf or .png")
        beside = file.with_name(f".{file.name}.{os.getpid()}.part")
        with style(), contextlib.ExitStack() as at_end:
            at_end.callback(beside.unlink, missing_ok=True)
            kept = {k: v for k, v in metadata[file.suffix].items() if v != ""}
            made.savefig(beside, format=file.suffix[1:], metadata=kept)
            if file.suffix == ".svg":
                beside.write_text(_svg.small(beside.read_text(encoding="utf-8")), encoding="utf-8")
            beside.replace(file)


def _laid_out(made: Figure) -> None:
    """Lays out once what is then drawn in every format."""
    if made.get_layout_engine() is not None:
        FigureCanvasAgg(made)
        made.get_layout_engine().execute(made)
        made.set_layout_engine("none")


KINDS = {"rates": rates, "trace": trace, "forest": forest, "contour": contour, "ecdf": ecdf, "ranges": ranges, "panel": panel}
