# SPDX-License-Identifier: Apache-2.0
"""Where the marks of the small charts stand, in pixels of the drawing or in percent of its width."""
from __future__ import annotations

import itertools
import math
import textwrap
from types import SimpleNamespace as Model
from typing import Any, Callable, Iterable, Optional, Sequence

from .text import interval, is_claimed, parts_of, power_of_ten, rate_text, short_number, signed

COLOURS, SHAPES = 12, 4  # of the style sheet and of the drawings
FEW = 24  # points of a curve that has a mark and a bar at each
MOST = 90  # points of a curve that are drawn


def px(v: float) -> str:
    """A length of a drawing, to a tenth."""
    shown = f"{v:.1f}".removesuffix(".0")
    return "0" if shown == "-0" else shown


def clamp(v: float, low: float, high: float) -> float:
    return max(low, min(v, high))


def cut(label: str, most: int) -> str:
    return label if len(label) <= most else label[:most] + "…"


class Looks:
    """Colours and shapes; a method has those of its place among all."""

    def __init__(self, methods: Sequence[str]) -> None:
        self.places = {method: k for k, method in enumerate(methods)}

    def of(self, method: str) -> tuple[int, int]:
        """Colour and shape; colour 0 is grey."""
        k = self.places.get(method)
        return (0, 0) if k is None else (k % COLOURS + 1, k // COLOURS % SHAPES)

    def of_panel(self, panel: Model) -> dict[str, tuple[int, int]]:
        """By label. Further curves of one method have other shapes, then other colours."""
        found: dict[str, tuple[int, int]] = {}
        for s in panel.series:
            if s.dashed or s.label in found:
                continue
            colour, shape = self.of(s.algorithm)
            if colour == 0:
                colour, shape = s.style % COLOURS + 1, s.style % SHAPES
            for tried in range(1, COLOURS * SHAPES + 1):
                if (colour, shape) not in found.values():
                    break
                shape = (shape + 1) % SHAPES
                if tried % SHAPES == 0:
                    colour = colour % COLOURS + 1
            found[s.label] = (colour, shape)
        return found


# --- exponents --------------------------------------------------------------------------------------------------------

LARGEST = 0.3  # deviation that a forest shows


def axis_class(axis: str) -> str:
    return {"n": "n", "ε": "e"}.get(axis, "d")


def deviation(rate: Model, v: float) -> float:
    """Measured minus claimed; in ε the other way round, so that worse is to the right."""
    return rate.claimed_low - v if rate.axis == "ε" or rate.in_noise else v - rate.claimed_high


def forest(groups: Sequence[Model]) -> Model:
    """A row is a method on one statement, with a cell for each axis."""
    rates = [r for g in groups for row in g.rows for r in row.rates]
    columns = [_column(axis, [r for r in rates if axis_class(r.axis) == axis_class(axis)]) for axis in ("n", "d", "ε")]
    return Model(columns=columns, groups=[
        Model(paper=g.paper, quantity=g.quantity, rows=[_forest_row(row, columns) for row in g.rows]) for g in groups])


def _column(axis: str, rates: Sequence[Model]) -> Model:
    shown = [v for r in rates for v in (r.zone_low, r.zone_high, r.value) if v is not None and not math.isnan(v)]
    low, high = (min(shown), max(shown)) if shown and min(shown) < max(shown) else (-1.0, 0.0)
    c = Model(axis=axis, css=axis_class(axis), low=low - 0.12, high=high + 0.12)
    step = 1.0 if c.high - c.low > 2.6 else 0.5
    first = math.ceil(c.low / step + 0.2)
    c.ticks = [k * step for k in range(first, first + 40) if k * step <= c.high - 0.05]
    c.width = max(0.8, c.high - c.low)
    c.at = lambda v: (clamp(v, c.low, c.high) - c.low) / (c.high - c.low) * 100
    return c


def deviation_at(v: float) -> float:
    return (clamp(v, -LARGEST, LARGEST) + LARGEST) / (2 * LARGEST) * 100


def _forest_row(row: Model, columns: Sequence[Model]) -> Model:
    papers = list(dict.fromkeys([row.paper, *(claim.split("/")[0] for claim in row.also)]))
    return Model(claim=row.claim, method=row.method, word=row.word, papers=" ".join(papers),
                 axes="".join(axis_class(r.axis) for r in row.rates),
                 conditional=any("conditional" in r.privacy for r in row.rates),
                 simulated=all("simulated" in r.privacy for r in row.rates),
                 cells=[_forest_cell(c, next((r for r in row.rates if axis_class(r.axis) == c.css), None))
                        for c in columns])


def _forest_cell(c: Model, r: Optional[Model]) -> Model:
    cell = Model(column=c, rate=r, marks=None, off=None)
    if r is None:
        return cell
    cell.tip = f"{rate_text(r)}\n{r.word}. {parts_of(r)}\n{r.metric}"
    cell.zone = [c.at(r.zone_low), c.at(r.zone_high)]
    if r.value is not None:
        away = deviation(r, r.value)
        cell.marks = Model(low=c.at(r.low), high=c.at(r.high), at=c.at(r.value))
        cell.off = Model(zone=sorted(deviation_at(deviation(r, v)) for v in (r.zone_low, r.zone_high)),
                         low=deviation_at(deviation(r, r.low)), high=deviation_at(deviation(r, r.high)),
                         at=deviation_at(away), beyond=abs(away) > LARGEST, left=away < 0)
    return cell


def _widest(rates: Iterable[Model]) -> float:
    ends = [abs(deviation(r, v)) for r in rates if r.value is not None and is_claimed(r) for v in (r.low, r.high)]
    return min(max([0.07, *(1.05 * v for v in ends)]), 0.6)


def _deviations(left: float, width: float, most: float) -> Callable[[float], float]:
    return lambda v: left + (clamp(v, -most, most) + most) / (2 * most) * width


def intervals(rates: Sequence[Model]) -> Model:
    """Measured minus claimed, with zones and plans; a row a rate."""
    most = _widest(rates)
    at = _deviations(160, 170, most)
    rows, end = [], 2
    for r in rates:
        label = textwrap.wrap(f"{r.arm} in {r.axis}", 21, break_long_words=False)
        high = max(36, 14 * len(label) + 8)
        y, end = end + high // 2, end + high
        row = Model(y=y, label=[(y + 11 + 14 * i - 7 * len(label), line) for i, line in enumerate(label)], word=r.word,
                    shown=None, plan=None)
        if r.value is not None and is_claimed(r):
            row.zone = sorted(at(deviation(r, v)) for v in (r.zone_low, r.zone_high))
            row.low, row.at, row.high = (at(deviation(r, v)) for v in (r.low, r.value, r.high))
            row.plan = None if r.plan is None else at(deviation(r, r.plan))
            row.shown = f"{signed(r.value)} {interval(r.low, r.high)}"
        rows.append(row)
    return Model(rows=rows, height=end + 42, zero=at(0), ticks=_deviation_ticks(at, most, "claimed"))


def _deviation_ticks(at: Callable[[float], float], most: float, zero: str) -> list[tuple[float, str]]:
    tick = max(t for t in (0.05, 0.1, 0.2, 0.4) if t <= most)
    return [(at(t), signed(t, 2) if t else zero) for t in (-tick, 0.0, tick)]


def small_intervals(rates: Sequence[Model]) -> Model:
    """The same for a card: rates of one method in one row."""
    most = max(0.065, _widest(rates))
    at = _deviations(116, 120, most)
    rows: list[Model] = []
    y = -4
    lines: list[str] = []
    for r in rates:
        if r.value is None:
            continue
        fresh = not rows or rows[-1].arm != r.arm
        if fresh:
            y += 15 + 12 * max(0, len(lines) - 1)
            lines = textwrap.wrap(r.arm, 15, break_long_words=False)
        rows.append(Model(arm=r.arm, fresh=fresh, lines=[(y + 4 + 12 * k, line) for k, line in enumerate(lines)], y=y,
                          algorithm=r.algorithm,
                          tip=f"{r.arm}\n{rate_text(r)}", shape="nde".index(axis_class(r.axis)),
                          low=at(deviation(r, r.low)), at=at(deviation(r, r.value)), high=at(deviation(r, r.high))))
    y += 12 * max(0, len(lines) - 1)
    return Model(rows=rows, y=y, height=y + 52, left=116, right=236, zero=at(0),
                 ticks=_deviation_ticks(at, most, "0"))


# --- panels -----------------------------------------------------------------------------------------------------------

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 224, 150, 40, 8, 22, 36


def panel(p: Model, looks: Looks) -> Model:
    """A panel of a figure, small and without a legend."""
    x = _axis(p.x, [v for s in p.series for v in s.x] + [m.x for m in p.markers] +
              [line.value for line in p.lines if line.direction == "vertical"], 0.025)
    y = _axis(p.y, [v for s in p.series for v in [*s.y, *s.low, *s.high]] + [m.y for m in p.markers] +
              [line.value for line in p.lines if line.direction == "horizontal"], 0.05)

    def at_x(v: float) -> float:
        return LEFT + x.part(v) * (WIDTH - LEFT - RIGHT)

    def at_y(v: float) -> float:
        return HEIGHT - BOTTOM - clamp(y.part(v), -0.02, 1.02) * (HEIGHT - TOP - BOTTOM)

    by_label = looks.of_panel(p)
    curves = [_curve(s, by_label.get(s.label, looks.of(s.algorithm)), at_x, at_y, x)
              for s in sorted(p.series, key=lambda s: not s.dashed)]
    return Model(title=textwrap.wrap(p.y.label, 34, break_long_words=False), x_label=p.x.label, curves=curves,
                 x_ticks=_with_room([(at_x(v), label) for v, label in x.ticks], 8, _text_width),
                 y_ticks=_with_room([(-at_y(v), label) for v, label in y.ticks], 13, lambda label: 0),
                 lines=[Model(vertical=line.direction == "vertical",
                              at=(at_x if line.direction == "vertical" else at_y)(line.value)) for line in p.lines],
                 markers=[Model(x=at_x(m.x), y=at_y(m.y), colour=m.style % COLOURS + 1, shape=m.style % SHAPES)
                          for m in p.markers])


def _axis(axis: Model, values: Sequence[float], margin: float) -> Model:
    found = [v for v in values if not math.isnan(v)] or [1.0]
    low, high = min(found), max(found)
    log = axis.scale == "log"
    if axis.range:
        low, high = axis.range
    elif log:
        low, high = math.log10(low), math.log10(high)
        pad = margin * (high - low) if high - low > 1e-9 else 0.5
        low, high = 10 ** (low - pad), 10 ** (high + pad)
    else:
        apart = high - low > 1e-9 * max(abs(low), abs(high))
        pad = margin * (high - low) if apart else 0.1 * abs(low) or 1.0
        low, high = low - pad, high + pad

    def part(v: float) -> float:
        return math.log(v / low) / math.log(high / low) if log else (v - low) / (high - low)

    return Model(part=part, ticks=_log_ticks(low, high) if log else _linear_ticks(low, high))


def _linear_ticks(low: float, high: float) -> list[tuple[float, str]]:
    """Multiples of 1, 2 or 5 times a power of ten, about six of them."""
    rough = (high - low) / 6
    power = 10.0 ** math.floor(math.log10(rough))
    step = next((f * power for f in (1, 2, 5) if f * power >= rough * (1 - 1e-9)), 10 * power)
    largest = max(abs(low), abs(high))
    e = math.floor(math.log10(step) + 1e-9)
    leading = math.floor(math.log10(largest)) if largest >= 1e5 or largest < 1e-3 else None
    ticks = []
    for k in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1):
        size = abs(k * step)
        label = "0"
        if k and leading is not None:
            label = f"{size / 10.0 ** leading:.{max(0, leading - e)}f}×{_power(leading)}"
        elif k:
            label = f"{size:.{max(0, -e)}f}"
        ticks.append((k * step, ("−" if k < 0 else "") + label))
    return ticks


def _log_ticks(low: float, high: float) -> list[tuple[float, str]]:
    """Decades; below two of them also 2 and 5 times each; within one, as on a linear axis."""
    decades = math.log10(high / low)
    if decades < 0.7:
        return _linear_ticks(low, high)
    every = max(1, math.ceil(decades / 6))
    short = low >= 1e-3 and high < 1e4
    ticks = []
    for e in range(math.floor(math.log10(low)), math.floor(math.log10(high)) + 1):
        for m in (1, 2, 5) if decades < 2 else (1,):
            v = m * 10.0 ** e
            if e % every == 0 and low * (1 - 1e-12) <= v <= high * (1 + 1e-12):
                ticks.append((v, f"{v:.{max(0, -e)}f}" if short else _power(e) if m == 1 else f"{m}×{_power(e)}"))
    return ticks


def _power(e: int) -> str:
    return f"10^{{{'−' if e < 0 else ''}{abs(e)}}}"


def _with_room(ticks: Sequence[tuple[float, str]], gap: float, width: Callable[[str], float]) -> list[Model]:
    """Ticks; a label that would touch the one before it is left out."""
    found = []
    last = -math.inf
    for at, label in ticks:
        half = width(label) / 2
        room = at - half >= last + gap
        found.append(Model(at=abs(at), label=label if room else ""))
        last = at + half if room else last
    return found


def _text_width(markup: str) -> float:
    """About how wide a text of a drawing is; scripts are small."""
    scripts = markup.split("{")
    small = sum(len(part.split("}")[0]) for part in scripts[1:])
    return 5 * small + 6.6 * (len(markup) - small - 3 * (len(scripts) - 1))


def _curve(s: Model, look: tuple[int, int], at_x: Callable[[float], float], at_y: Callable[[float], float],
           x: Model) -> Model:
    few, banded = len(s.x) <= FEW, bool(s.low)
    shown = [not math.isnan(v) and -1e-9 < x.part(s.x[k]) < 1 + 1e-9 for k, v in enumerate(s.y)]
    steps = _steps(s)
    path, pen = "", False
    for k in steps:
        if shown[k]:
            path += f"{'L' if pen else 'M'}{px(at_x(s.x[k]))} {px(at_y(s.y[k]))}"
        pen = shown[k]
    curve = Model(colour=look[0], shape=look[1], dashed=s.dashed, path=path, band="", bars=[], points=[])
    if s.dashed:
        return curve
    if banded and not few:
        edges = [(px(at_x(s.x[k])), px(at_y(s.low[k])), px(at_y(s.high[k]))) for k in steps
                 if not any(map(math.isnan, (s.y[k], s.low[k], s.high[k])))]
        there = "L".join(f"{a} {high}" for a, _, high in edges)
        back = "".join(f"L{a} {low}" for a, low, _ in reversed(edges))
        curve.band = f"M{there}{back}Z" if edges else ""
    step = 1 if few else max(1, len(s.x) // 8)
    for k in range(0 if few else step // 2, len(s.x), step):
        if shown[k]:
            at = at_x(s.x[k])
            if banded and few and not math.isnan(s.low[k]) and at_y(s.low[k]) - at_y(s.high[k]) > 9:
                curve.bars.append((at, at_y(s.low[k]), at_y(s.high[k])))
            curve.points.append((at, at_y(s.y[k])))
    return curve


def _steps(s: Model) -> list[int]:
    """The points that are drawn: of hundreds, one in two or three pixels, the ends of gaps and the last among them."""
    step = max(1, len(s.x) // MOST)
    found, k = [], 0
    while k < len(s.x):
        found.append(k)
        way = min(step, len(s.x) - 1 - k)
        k += 1 if way < 1 or any(math.isnan(v) for v in s.y[k:k + way + 1]) else way
    return found


# --- the league -------------------------------------------------------------------------------------------------------

def levels(cell: Model, narrow: bool) -> Model:
    """Levels of one cell, the start dotted."""
    width, left = (370, 142) if narrow else (600, 280)
    height = 78 + 18 * len(cell.levels)
    lows = [cell.start, *(level.low for level in cell.levels if level.low > 0)]
    low = math.log10(min(lows)) - 0.05
    high = math.log10(max([cell.start, *(level.median for level in cell.levels)])) + 0.12

    def at(v: float) -> float:
        return left + (clamp(math.log10(max(v, 1e-12)), low, high) - low) / (high - low) * (width - left - 10)

    ticks: list[tuple[float, str]] = []
    for v in (m * 10.0 ** e for e in range(-8, 8) for m in (1, 2, 5)):
        if low <= math.log10(v) <= high and (not ticks or at(v) - ticks[-1][0] >= 34):
            ticks.append((at(v), f"{v:g}"))
    rows = []
    for k, level in enumerate(cell.levels):
        name = level.algorithm if not narrow or len(level.algorithm) <= 21 else level.algorithm.split("/", 1)[-1]
        rows.append(Model(algorithm=level.algorithm, name=cut(name, 21 if narrow else 40), y=48 + 18 * k,
                          low=at(level.low), at=at(level.median), high=at(level.high),
                          tip=f"{level.algorithm}\nmedian {short_number(level.median)}, range "
                              f"[{short_number(level.low)}, {short_number(level.high)}], {level.instances} instances; {level.settings}"))
    return Model(width=width, left=left, height=height, ticks=ticks, start=at(cell.start), rows=rows)


def rank(place: Model, algorithm: str) -> Model:
    """Where one algorithm stands among the scores at one d."""
    def at(v: float) -> float:
        return 8 + clamp(v, 0, 1) * 364

    return Model(ticks=[(at(t), f"{t:g}") for t in (0, 0.25, 0.5, 0.75, 1)],
                 marks=[Model(key=key, own=key == algorithm, at=at(score),
                              tip=f"{key}\n{short_number(score)} of the targets")
                        for key, score in place.all])


def picture(p: Model) -> Model:
    """Values in a plane as shades, and the points that matter."""
    side, left, top = 360, 40, 8
    paths: dict[int, str] = {}  # lines along rows, in cells
    for r, row in enumerate(p.bands):
        start = 0
        for band, cells in itertools.groupby(row):
            length = len(list(cells))
            paths[band] = paths.get(band, "") + f"M{start} {r}h{length}"
            start += length
    most = max(1, max(paths))
    shades: list[Any] = [(f"{0.05 + 0.75 * (1 - band / most):.2f}", paths[band]) for band in sorted(paths)]
    width, height = side / len(p.bands[0]), side / len(p.bands)
    return Model(shades=shades, cells=f"matrix({width:.4g} 0 0 -{height:.4g} {left} {top + side - height / 2:.4g})", points=[
        Model(kind=point.kind, x=left + (point.x - p.x_low) / (p.x_high - p.x_low) * side,
              y=top + side - (point.y - p.y_low) / (p.y_high - p.y_low) * side) for point in p.points])


def described(p: Model, rates: Sequence[Model]) -> str:
    """A panel for those who do not see it, with the slopes that belong to its curves."""
    out = f"{p.title}: {p.y.label} against {p.x.label}"
    for s in p.series:
        rate = next((r for r in rates if p.origin.sweep and not s.dashed and
                     (r.sweep, r.part, r.arm, r.metric) == (p.origin.sweep, p.origin.part, s.label, p.y.label)), None)
        if rate is not None:
            out += f"; {s.label}: {rate_text(rate)}"
    return out
