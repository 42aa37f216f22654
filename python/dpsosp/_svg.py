# SPDX-License-Identifier: Apache-2.0
"""SVG as matplotlib writes it in a quarter of the bytes, looking the same: each glyph and each style is stated once, under
a short name; points are relative, in hundredths of a point, and those of glyphs in 200ths of their size."""
from __future__ import annotations

import collections
import re
import string
import xml.etree.ElementTree as ET
from typing import Callable, Iterator
from xml.sax.saxutils import escape

SVG, LINK = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}href"
DC = "{http://purl.org/dc/elements/1.1/}"
EM = 2  # units of a glyph's outline in a hundredth of its size, which is matplotlib's unit of a text
TEXT = re.compile(r"translate\((\S+) (\S+)\)(?: (rotate\(\S+\)))? scale\((\S+) -\4\)")
PLACE = re.compile(r"translate\((\S+) (\S+)\)(?: scale\((\S+)\))?")


def small(svg: str) -> str:
    """The same drawing; `svg` itself where it has what is not known here."""
    try:
        return _Writer(ET.fromstring(svg.split("?>", 1)[-1].split(".dtd\">", 1)[-1])).text
    except (ValueError, KeyError):
        return svg


class _Unknown(ValueError):
    pass


KNOWN = {f"{SVG}g": {"id", "style", "transform", "clip-path"}, f"{SVG}path": {"id", "d", "style", "clip-path"},
         f"{SVG}use": {"x", "y", "style", "transform", LINK}}


class _Writer:
    def __init__(self, root: ET.Element) -> None:
        self.named = {e.get("id"): e for e in root.iter() if e.get("id")}
        self.names: dict[str, str] = {}  # by id of matplotlib's
        self.classes: dict[str, str] = {}  # by style
        self.defined: list[str] = []
        self.words: "collections.Counter[str]" = collections.Counter()
        body = "".join(self._merged(e for child in root if child.tag == f"{SVG}g" for e in self._flat(child)))
        body = re.sub("\0(.*?)\0(.*?)\0", self._placed, body)
        style = "*{stroke-linejoin:round}" + "".join(f".{name}{{{style}}}" for style, name in self.classes.items())
        words = "".join(f"<{name}>{escape(found)}</{name}>" for name, found in
                        (("title", root.findtext(f"{SVG}title")), ("desc", root.findtext(f".//{DC}description"))) if found)
        size = " ".join(f'{name}="{root.get(name)}"' for name in ("width", "height", "viewBox"))
        self.text = (f'<svg xmlns="http://www.w3.org/2000/svg" {size}>{words}'
                     f"<style>{style}</style><defs>{''.join(self.defined)}</defs>{body}</svg>\n")

    def _flat(self, e: ET.Element) -> Iterator[ET.Element]:
        """What is drawn, without the groups that only have names."""
        if e.tag == f"{SVG}g" and not set(e.keys()) - {"id"}:
            for child in e:
                yield from self._flat(child)
        elif e.tag != f"{SVG}defs":
            yield e

    def _merged(self, elements: Iterator[ET.Element]) -> Iterator[str]:
        """Lines of one opaque style that follow each other are one path."""
        last, lines = "", ""
        for e in elements:
            is_line = e.tag == f"{SVG}path" and "fill: none" in e.get("style", "") and "opacity" not in e.get("style", "")
            look = self._look(e)
            if lines and not (is_line and look == last):
                yield f'<path d="{lines}"{last}/>'
                lines = ""
            if is_line:
                last, lines = look, lines + _path(e.get("d", ""), 100)
            else:
                yield self._element(e, look)
        if lines:
            yield f'<path d="{lines}"{last}/>'

    def _element(self, e: ET.Element, look: str) -> str:
        if e.tag == f"{SVG}path":
            return f'<path d="{_path(e.get("d", ""), 100)}"{look}/>'
        if e.tag == f"{SVG}use":
            return f'<use href="#{self._name(e)}"{_at(e, 1)}{look}/>'
        if e.tag == f"{SVG}g" and e.get("clip-path") and not e.get("transform"):
            return f"<g{look}>{''.join(self._merged(each for child in e for each in self._flat(child)))}</g>"
        place = TEXT.fullmatch(e.get("transform", "")) if e.tag == f"{SVG}g" else None
        letters = [use for use in e if use.tag != f"{SVG}defs"]
        if place is None or any(use.tag != f"{SVG}use" for use in letters):
            raise _Unknown(e.tag)
        size = f"{float(place[4]) / EM:.6f}".strip("0")
        turned = place[3] or ""
        uses = "".join(f'<use href="#{self._name(use)}"{_at(use, EM)}/>' for use in letters
                       if self.named[use.get(LINK, "")[1:]].get("d"))
        transform = f'transform="translate({_n(place[1])} {_n(place[2])}){turned}scale({size}-{size})"'
        self.words[uses] += 1
        return f"\0{transform}{look}\0{uses}\0"

    def _placed(self, text: "re.Match[str]") -> str:
        """A text; one that stands in several places is defined once."""
        if self.words[text[2]] < 2:
            return f"<g {text[1]}>{text[2]}</g>"
        name = self._define(text[2], lambda short: f'<g id="{short}">{text[2]}</g>')
        return f'<use href="#{name}" {text[1]}/>'

    def _look(self, e: ET.Element) -> str:
        if set(e.keys()) - KNOWN.get(e.tag, set()) or "url" in e.get("style", ""):
            raise _Unknown(e.tag)
        found = []
        style = ";".join(part.strip().replace(": ", ":") for part in e.get("style", "").split(";"))
        clip = re.fullmatch(r"url\(#(.*)\)", e.get("clip-path", ""))
        for each in (style, f"clip-path:url(#{self._clip(clip[1])})" if clip else ""):
            if each:
                found.append(self.classes.setdefault(each, _letters(len(self.classes))))
        return f' class="{" ".join(found)}"' if found else ""

    def _clip(self, name: str) -> str:
        def write(short: str) -> str:
            (rect,) = self.named[name]
            if rect.tag != f"{SVG}rect":
                raise _Unknown(rect.tag)
            box = " ".join(f'{k}="{_n(rect.get(k, "0"))}"' for k in ("x", "y", "width", "height"))
            return f'<clipPath id="{short}"><rect {box}/></clipPath>'
        return self._define(name, write)

    def _name(self, use: ET.Element) -> str:
        name = use.get(LINK, "")[1:]

        def write(short: str) -> str:
            path = self.named[name]
            if path.tag != f"{SVG}path":
                raise _Unknown(path.tag)
            is_glyph = path.get("transform") == "scale(0.015625)"
            if is_glyph:
                path.attrib.pop("transform")
            return f'<path id="{short}" d="{_path(path.get("d", ""), EM / 64 if is_glyph else 100)}"{self._look(path)}/>'
        return self._define(name, write)

    def _define(self, name: str, write: Callable[[str], str]) -> str:
        if name not in self.names:
            self.names[name] = _letters(len(self.names))
            self.defined.append(write(self.names[name]))
        return self.names[name]


def _letters(k: int) -> str:
    """a … z, A … Z, a1 …"""
    return string.ascii_letters[k % 52] + (str(k // 52) if k >= 52 else "")


def _n(number: str, scale: float = 1) -> str:
    return _short(round(float(number) * scale * 100), 100)


def _at(use: ET.Element, scale: int) -> str:
    """Where it stands."""
    place = PLACE.fullmatch(use.get("transform", "translate(0 0)"))
    if place is None:
        raise _Unknown(use.get("transform"))
    digits = 100 if scale == 1 else 1
    x, y = (round((float(use.get(k, "0")) + float(place[i])) * scale * digits) for k, i in (("x", 1), ("y", 2)))
    if place[3]:
        return f' transform="translate({_short(x, digits)} {_short(y, digits)})scale({place[3].lstrip("0")})"'
    return "".join(f' {k}="{_short(v, digits)}"' for k, v in (("x", x), ("y", y)) if v)


def _short(whole: int, digits: int) -> str:
    """whole / digits, without what need not be said."""
    if digits == 1 or whole % digits == 0:
        return str(whole // digits)
    shown = f"{abs(whole) / digits:.2f}".rstrip("0")
    return ("-" if whole < 0 else "") + (shown[1:] if shown[0] == "0" else shown)


def _path(d: str, scale: float) -> str:
    """A path of M, L, Q, C and z, after the first point relative; points are multiples of 1 / scale, or of 1 for glyphs."""
    digits = 100 if scale == 100 else 1
    out: list[str] = []
    last = ""
    x = y = start_x = start_y = 0

    def add(command: str, *numbers: int) -> None:
        nonlocal last
        text = "" if command == last and command != "M" else command
        for v in numbers:
            shown = _short(v, digits)
            text += shown if text[-1:].isalpha() or shown[0] == "-" else f" {shown}"
        out.append(text)
        last = command

    words = d.split()
    k = 0
    while k < len(words):
        command = words[k]
        count = {"M": 2, "L": 2, "Q": 4, "C": 6, "z": 0}.get(command)
        if count is None:
            raise _Unknown(command)
        p = [round(float(w) * scale) for w in words[k + 1:k + 1 + count]]
        k += 1 + count
        if command == "z":
            add("z")
            x, y = start_x, start_y
            continue
        if command == "M":
            add("M", *p)
            start_x, start_y = p
        elif command == "L":
            if p[1] == y and p[0] != x:
                add("h", p[0] - x)
            elif p[0] == x:
                add("v", p[1] - y)
            else:
                add("l", p[0] - x, p[1] - y)
        else:
            add(command.lower(), *(v - (x, y)[i % 2] for i, v in enumerate(p)))
        x, y = p[-2:]
    return "".join(out)
