# SPDX-License-Identifier: Apache-2.0
"""pages_test.py SOURCE_FOLDER PROGRAM: pages of dpsosp.report from models, whose schema the program prints. Exit code 77: no Jinja2 or markdown-it."""
import html.parser
import json
import math
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(sys.argv.pop(1))
SCHEMA = json.loads(subprocess.run([sys.argv.pop(1)], capture_output=True, check=True).stdout)
sys.path.insert(0, str(SOURCE / "python"))
sys.dont_write_bytecode = True
try:
    from dpsosp.report import charts, models, pages, tables, text
except ImportError as e:
    print(e)
    sys.exit(77)

READER = models.Reader(SCHEMA)
METHOD = "smith-2027/momentum"
ADDRESSES = {"smith-2027/c1": "claims/smith-2027-c1.html", METHOD: "algorithms/smith-2027-momentum.html",
             "double-well": "problems/double-well.html", "X1": "errata.html#X1"}
HOSTILE = "<script>alert(1)</script> \" ' & {{ 7*7 }}{% raw %} `<b>` _{<i>} \x07"


def rate(axis="n", claimed=-2 / 3, value=-0.67, **more):
    return {"claim": "smith-2027/c1", "axis": axis, "claimed_low": claimed, "claimed_high": claimed,
            "zone_low": claimed - 0.05, "zone_high": claimed + 0.05, "value": value, "low": value - 0.01,
            "high": value + 0.01, "metric": "sosp_level", "word": "confirmed", "verdict": "as claimed",
            "algorithm": METHOD, "sweep": "momentum", "part": "n", "arm": "momentum", **more}


def panel(**more):
    return {"title": "Against n", "origin": {"sweep": "momentum", "part": "n"},
            "x": {"label": "n", "scale": "log"}, "y": {"label": "sosp_level", "scale": "log"},
            "series": [{"label": "momentum", "algorithm": METHOD, "x": [1e3, 1e4], "y": [0.5, 0.1]}], **more}


class Elements(html.parser.HTMLParser):
    """Tags with their attributes, and the text outside scripts."""

    def __init__(self, content):
        super().__init__()
        self.tags, self.text, self.inside = [], "", []
        self.feed(content)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        self.inside.append(tag)

    def handle_endtag(self, tag):
        while self.inside and self.inside.pop() != tag:
            pass

    def handle_data(self, data):
        if "script" not in self.inside:
            self.text += data


class Report:
    """A folder with models and the pages that are made of them."""

    def __init__(self, folder, models_of, drawn=(), addresses=ADDRESSES):
        self.folder = pathlib.Path(folder)
        entries = []
        for address, (kind, model) in models_of.items():
            file = (self.folder / address).with_suffix(".json")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(json.dumps(model), encoding="utf-8")
            entries.append({"address": address, "kind": kind})
        about = {"scale": "quick", "version": "0.0", "methods": ["abadi-2016/dp-sgd", METHOD],
                 "addresses": addresses, "drawn": {file: file for file in drawn}, "pages": entries}
        (self.folder / "site.json").write_text(json.dumps(about), encoding="utf-8")
        (self.folder / "models.json").write_text(json.dumps(SCHEMA), encoding="utf-8")

    def make(self):
        return list(pages.make(self.folder))

    def page(self, address):
        self.make()
        return (self.folder / address).read_text(encoding="utf-8")


class Case(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.addCleanup(self.scratch.cleanup)
        self.folder = pathlib.Path(self.scratch.name)

    def one(self, kind, model, address="x.html", **more):
        models_of = {"index.html": ("IndexPage", {"title": "t"}), address: (kind, model)}
        return Report(self.folder, models_of, **more).page(address)


class Texts(Case):
    def setUp(self):
        super().setUp()
        self.texts = text.Texts(ADDRESSES)
        self.texts.here = "claims/other.html"

    def test_link_what_they_name(self):
        for markup, made in (
                ("see smith-2027/c1.", 'see <a href="../claims/smith-2027-c1.html">smith-2027/c1</a>.'),
                ("`double-well` and x_{t}",
                 '<a href="../problems/double-well.html"><code>double-well</code></a> and x<sub>t</sub>'),
                ("errata X1; a < b", 'errata <a href="../errata.html#X1">X1</a>; a &lt; b'),
                ("smith-2027/c11 and a ` alone", "smith-2027/c11 and a ` alone"),
                ("a double-well", 'a <a href="../problems/double-well.html">double-well</a>')):
            self.assertEqual(str(self.texts.prose(markup)), made)

    def test_never_link_a_page_to_itself(self):
        self.texts.here = "claims/smith-2027-c1.html"
        self.assertEqual(str(self.texts.prose("smith-2027/c1 `smith-2027/c1`")),
                         "smith-2027/c1 <code>smith-2027/c1</code>")

    def test_numbers_have_true_minus_signs_and_fractions(self):
        for shown, expected in ((text.exponent(-2 / 3), "−2/3"), (text.exponent(0.5), "+1/2"),
                                (text.exponent(-0.6741), "−0.674"), (text.exponent(0), "0"),
                                (text.short_number(1e5), "10⁵"), (text.short_number(0.0012), "0.00120"),
                                (text.short_number(-3.2e-7), "−3.2·10⁻⁷"), (text.short_number(math.nan), "–"),
                                (text.interval(-0.7, 0.1), "[−0.700, +0.100]")):
            self.assertEqual(shown, expected)

    def test_numbers_of_tables_keep_their_digits(self):
        for value, digits, shown in ((-9e-5, 2, "−9.0×10<sup>−5</sup>"), (-0.5, 2, "−0.50"), (9.99, 2, "10"),
                                     (99.9, 2, "1.0×10<sup>2</sup>"), (1234, 3, "1.23×10<sup>3</sup>"), (0, 3, "0")):
            form = models.Model(digits=digits, scientific=False)
            self.assertEqual(str(text.number(value, form)), shown)

    def test_quotations_have_their_formulas(self):
        made = str(text.quotation("at $a<b$ & $unknown<i>$", {"a<b": "<math><mi>a</mi></math>"}))
        self.assertEqual(made, "at <math><mi>a</mi></math> &amp; unknown&lt;i&gt;")

    def test_markdown_has_anchors_quotations_and_paragraphs(self):
        made = str(self.texts.markdown(
            "# Title\n\n### X7 · Theorem 1\n\n> a $x^{2}$\n> b\n\nOne\n**Here.** *what* `code` [there](x.md).\n\n"
            "| id | place |\n|---|---|\n| B2 | \\|y\\| |\n\n- one\n- a_{b} c_{d}\n\n<script>x</script>\n",
            {"x^{2}": "<math></math>"}))
        for part in ('<h2 id="X7">X7 · Theorem 1</h2>', "<blockquote>a <math></math> b</blockquote>",
                     "<p>One</p><p><b>", "<em>what</em>", "<code>code</code> there.", '<td id="B2">B2</td><td>|y|</td>',
                     "<ul><li>one</li><li>a<sub>b</sub> c<sub>d</sub></li></ul>", "&lt;script&gt;"):
            self.assertIn(part, made)


class Tables(Case):
    def table(self, **more):
        t = READER.read("Table", {"id": "t", "row_header": "row", **more})
        return self.one("ExhibitPage", {"title": "t", "tables": [self.plain(t)]})

    @staticmethod
    def plain(model):
        return json.loads(json.dumps(model, default=vars))

    @staticmethod
    def number(value):
        return {"content": {"value": value, "format": {"digits": 3}}}

    def test_say_what_failed_and_sort_by_value(self):
        spread = {"content": {"median": 2e5, "low": 1e5, "high": 3e5, "count": 3, "failed": 1, "failure": "not_finite",
                              "format": {"digits": 3}}}
        made = self.table(column_groups=[{"columns": ["level"]}], footnotes=["a note"],
                          row_groups=[{"rows": [{"label": "r", "cells": [spread]}]}])
        for part in ('data-v="200000"', "1 of 3 failed: not_finite", "a favourable selection",
                     '<sup class="mark">a</sup> a note'):
            self.assertIn(part, made)

    def test_number_their_footnotes_in_letters(self):
        self.assertEqual([tables.mark(k) for k in (0, 25, 26)], ["a", "z", "aa"])


class Charts(Case):
    def test_figure_shows_its_file_and_says_its_slopes(self):
        model = {"title": "t", "folder": "f", "rates": [rate()], "figures": [
            {"id": "curves", "caption": "Medians; see smith-2027/c1.", "panels": [panel()]}]}
        missing = self.one("ExhibitPage", model, "f/index.html")
        there = self.one("ExhibitPage", model, "f/index.html", drawn=["f/curves.svg"])
        for made in (there, missing):
            self.assertIn("−0.670 [−0.680, −0.660]", made)
            self.assertIn("Medians; see <a", made)
        self.assertIn('<img src="../f/curves.svg"', there)
        self.assertNotIn("<img", missing)
        self.assertIn("Not drawn here.", missing)

    def test_slices_of_one_method_differ_in_shape_and_keep_its_colour(self):
        slices = panel()["series"] + [{**panel()["series"][0], "label": "momentum (d = 8)"}]
        looks = charts.Looks(["other", METHOD])
        found = looks.of_panel(READER.read("Panel", panel(series=slices)))
        self.assertEqual({colour for colour, _ in found.values()}, {2})
        self.assertEqual(len({shape for _, shape in found.values()}), 2)

    def test_long_curve_keeps_its_gaps_and_its_last_point(self):
        y = [1.0] * 1000
        y[500] = None
        s = READER.read("Series", {"x": list(range(1, 1001)), "y": y})
        steps = charts._steps(s)
        self.assertLess(len(steps), 150)
        self.assertTrue({499, 500, 501, 999} <= set(steps))

    def test_ticks_are_round_and_do_not_touch(self):
        self.assertEqual([label for _, label in charts._log_ticks(90, 11000)], ["10^{2}", "10^{3}", "10^{4}"])
        self.assertEqual([label for _, label in charts._linear_ticks(-0.21, 0.21)],
                         ["−0.2", "−0.1", "0", "0.1", "0.2"])
        made = self.one("IndexPage", {"title": "t", "highlights": [{"sentence": "s", "panel": panel()}]}, "index.html")
        self.assertIn('10<tspan dy="-4" font-size="75%">3</tspan>', made)

    def test_range_contains_data_and_ticks(self):
        draw = random.Random(1)
        for _ in range(300):
            log, scale = draw.random() < 0.5, 10.0 ** draw.randint(-12, 12)
            values = [scale * draw.randint(1 if log else -1000, 1000) for _ in range(draw.randint(1, 9))]
            axis = charts._axis(READER.read("Axis", {"scale": "log" if log else "linear"}), values, 0.05)
            self.assertTrue(all(-1e-9 <= axis.part(v) <= 1 + 1e-9 for v in values), values)
            self.assertTrue(all(-1e-6 <= axis.part(v) <= 1 + 1e-6 for v, _ in axis.ticks), values)
            self.assertTrue(2 <= len(axis.ticks) <= 12, (values, axis.ticks))

    def test_forest_shows_every_slope_once(self):
        row = {"claim": "smith-2027/c1", "method": "Momentum", "paper": "smith-2027", "word": "confirmed",
               "rates": [rate("n"), rate("d", 1 / 3, 0.34), rate("ε", -1, -0.2)], "also": ["jones-2028/c2"]}
        made = self.one("PaperPage", {"key": "k", "forest": [{"paper": "smith-2027", "quantity": "q", "rows": [row]}]})
        self.assertEqual(made.count('class="frow"'), 1)
        self.assertEqual(made.count("data-tip="), 3)
        self.assertIn("exponent in n: claimed −2/3, measured −0.670 [−0.680, −0.660]", made)
        self.assertIn('data-p="smith-2027 jones-2028"', made)
        self.assertIn("M0 0 9-5 9 5Z", made, "what lies beyond the scale is an arrow")


class Pages(Case):
    def test_algorithm_shows_the_figure_of_its_claim(self):
        claim = {"id": "smith-2027/c1", "figure": {"id": "f", "panels": [panel()]}}
        algorithm = {"key": METHOD, "rows": [{"claim": "smith-2027/c1", "word": "open"}]}
        report = Report(self.folder, {"claims/smith-2027-c1.html": ("ClaimPage", claim),
                                      "algorithms/a.html": ("AlgorithmPage", algorithm)},
                        drawn=["claims/smith-2027-c1.svg"])
        self.assertIn('<img src="../claims/smith-2027-c1.svg"', report.page("algorithms/a.html"))

    def test_which_shows_targets_first_then_levels_with_settings(self):
        level = {"algorithm": METHOD, "median": 0.05, "low": 0.04, "high": 0.06, "instances": 5, "settings": "steps 30"}
        cell = {"group": "escapes", "title": "hard escapes", "n": 1e4, "d": 8, "epsilon": 1, "start": 0.6, "floor": 0.01,
                "levels": [level]}
        made = self.one("WhichPage", {"n": 1e5, "d": 20, "epsilon": 1, "cells": [cell], "nearest": [0],
                                      "shares": {"id": "figure-shares", "caption": "Shares", "panels": [panel()]},
                                      "groups": [{"name": "escapes", "text": "hard escapes"}]}, "which.html")
        self.assertLess(made.index('id="figure-shares"'), made.index('id="ask"'))
        self.assertIn("steps 30", Elements(made).text)
        self.assertIn('<option value="escapes">hard escapes</option>', made)
        cells = json.loads(re.search(r'id="league-cells">(.*?)</script>', made, re.S)[1])
        self.assertEqual(cells[0]["levels"], [[METHOD, "0.0500", "0.0400", "0.0600", "steps 30"]])

    def test_page_alone_has_no_navigation(self):
        made = Report(self.folder, {"index.html": ("ExhibitPage", {"title": "t"})}).page("index.html")
        self.assertNotIn("<nav", made)
        self.assertNotIn("search.js", made)

    def test_hostile_texts_are_texts_on_every_page(self):
        made = 0
        for kind in pages.TEMPLATES:
            model = hostile(READER.schema[kind])
            address = "index.html" if kind == "IndexPage" else "x.html"
            content = self.one(kind, model, address, addresses={})
            elements = Elements(content)
            self.assertLessEqual(sum(tag == "script" for tag, _ in elements.tags), 4, kind)
            self.assertFalse([tag for tag, _ in elements.tags if tag in ("iframe", "object")], kind)
            self.assertNotIn("alert(1)</script>", content, kind)
            self.assertNotIn("49", elements.text.replace("0.49", ""), kind)
            self.assertFalse(re.findall(r"[\x00-\x08]", content), kind)
            if HOSTILE.split(" ")[0] in elements.text:
                made += 1
                self.assertIn("{{ 7*7 }}{% raw %}", elements.text, kind)
        self.assertGreaterEqual(made, 9)

    def test_are_made_again_only_where_something_changed(self):
        report = Report(self.folder, {"index.html": ("IndexPage", {"title": "t"}), "a.html": ("TextPage", {"id": "a"})})
        self.assertEqual(report.make(), ["a.html", "index.html"])
        self.assertEqual(report.make(), [])
        (self.folder / "a.json").write_text('{"id": "a", "title": "other"}')
        self.assertEqual(report.make(), ["a.html"])
        (self.folder / "a.html").unlink()
        self.assertEqual(report.make(), ["a.html"])

    def test_refuse_a_model_that_is_none(self):
        cubic = {"figures": [{"panels": [{"x": {"scale": "cubic"}}]}]}
        for kind, model, said in (("TextPage", {"nonsense": 1}, "has the member nonsense"),
                                  ("TextPage", {"title": 1}, "TextPage.title = 1, expected string"),
                                  ("ExhibitPage", cubic, "expected linear or log")):
            with self.assertRaisesRegex(models.Invalid, said):
                self.one(kind, model)

    def test_program_says_in_one_line_what_is_wrong(self):
        def said(*words, **more):
            path = more.get("path", str(SOURCE / "python"))
            return subprocess.run([sys.executable, "-B", "-m", "dpsosp.report", *words], capture_output=True,
                                  text=True, cwd=self.folder, env={"PYTHONPATH": path})
        none = said("nowhere")
        self.assertEqual((none.returncode, none.stderr), (2, "pages: nowhere/site.json: No such file or directory\n"))
        broken = self.folder / "modules"
        (broken / "jinja2").mkdir(parents=True)
        for module in ("raise ImportError('none')", "raise RuntimeError('none')", "import sys; sys.exit('none')"):
            (broken / "jinja2/__init__.py").write_text(module)
            bad = said("nowhere", path=f"{broken}:{SOURCE / 'python'}")
            self.assertEqual(bad.returncode, 1)
            self.assertRegex(bad.stderr, r"^pages: \S+ cannot make them \(none\); install python3-jinja2 .*\n$")


def hostile(schema):
    """A model all of whose texts are hostile, with one entry in each list."""
    if "$ref" in schema:
        schema = READER.schema[schema["$ref"].rsplit("/", 1)[1]]
    if "anyOf" in schema:
        return hostile(schema["anyOf"][1])
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema["type"]
    if kind == "array":
        found = [hostile(s) for s in schema.get("prefixItems", [schema.get("items")])]
        return [0.5, 1.5] if found == [0.5, 0.5] else found  # a range
    if kind == "object" and "properties" in schema:
        made = {name: hostile(s) for name, s in schema["properties"].items() if name != "formulas"}
        return {name: 1.5 if name.endswith("high") and value == 0.5 else value for name, value in made.items()}
    if kind == "object":
        return {HOSTILE: hostile(schema["additionalProperties"])}
    return {"string": HOSTILE, "boolean": True, "integer": 0}.get(str(kind), 0.5)


class Style(unittest.TestCase):
    """Colours have the contrast of WCAG 2.2, level AA."""

    CSS = (SOURCE / "python/dpsosp/report/style.css").read_text(encoding="utf-8")

    def colours(self, block):
        start = self.CSS.index(block)
        found = re.findall(r"--([a-z0-9-]+):#([0-9a-f]{3,6})", self.CSS[start:self.CSS.index("}", start)])
        return {name: "".join(2 * c for c in value) if len(value) == 3 else value for name, value in found}

    @staticmethod
    def contrast(a, b):
        def luminance(colour):
            parts = [int(colour[k:k + 2], 16) / 255 for k in (0, 2, 4)]
            return sum(w * (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4)
                       for w, c in zip((0.2126, 0.7152, 0.0722), parts))
        high, low = sorted((luminance(a), luminance(b)), reverse=True)
        return (high + 0.05) / (low + 0.05)

    def test_colours_can_be_read(self):
        light, dark = self.colours(":root{"), self.colours(":root[data-theme=dark]{")
        self.assertEqual(self.colours(":root:not([data-theme=light]){"), dark)
        for colours in (light, dark):
            self.assertGreater(len(colours), 20)
            for name, value in colours.items():
                words = name in ("ink", "ink2", "accent", "good", "bad", "open")
                if words or (name.startswith("k") and name != "k0"):
                    self.assertGreaterEqual(self.contrast(value, colours["bg"]), 4.5, name)
                if words:
                    self.assertGreaterEqual(self.contrast(value, colours["panel"]), 4.5, name)
                if name in ("k0", "openfill"):
                    self.assertGreaterEqual(self.contrast(value, colours["bg"]), 3, name)
            for name in ("ink", "accent"):
                self.assertGreaterEqual(self.contrast(colours[name], colours["accent-bg"]), 4.5, name)


if __name__ == "__main__":
    unittest.main()
