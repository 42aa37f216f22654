# SPDX-License-Identifier: Apache-2.0
"""plots_test.py SOURCE_FOLDER: figures of dpsosp.plots and the program dpsosp.draw. Exit code 77: no matplotlib."""
import json
import math
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(sys.argv.pop(1) if len(sys.argv) > 1 else __file__).resolve()
SOURCE = SOURCE if SOURCE.is_dir() else SOURCE.parents[2]
sys.path.insert(0, str(SOURCE / "python"))
sys.dont_write_bytecode = True
try:
    import matplotlib  # noqa: F401
except ImportError as e:
    print(f"matplotlib is not installed for {sys.executable} ({e})")
    sys.exit(77)
import dpsosp.plots as plots  # noqa: E402


def runs(*rows):
    return [dict(zip(("arm", "records", "status", "level"), row)) for row in rows]


SMALL = runs(("a", 100, "finished", 4), ("a", 100, "finished", 1), ("a", 100, "finished", 2), ("a", 1000, "finished", 1),
             ("b", 100, "finished", 8), ("b", 1000, "failed", 1e9), ("b", 1000, "finished", None))


def curves(ax):
    """The named curves, as lists of points that are drawn."""
    return {line.get_label(): [(float(x), float(y)) for x, y in zip(line.get_xdata(), line.get_ydata()) if math.isfinite(y)]
            for line in ax.lines if not line.get_label().startswith("_")}


def bars(ax):
    """The intervals at points."""
    return [tuple(map(tuple, segment)) for c in ax.collections if hasattr(c, "get_segments") for segment in c.get_segments()]


class Scratch(unittest.TestCase):
    def setUp(self):
        self.place = tempfile.TemporaryDirectory()
        self.addCleanup(self.place.cleanup)
        self.folder = pathlib.Path(self.place.name)

    def write(self, name, content):
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        return file

    def draw(self, *words, **environment):
        return subprocess.run([sys.executable, "-m", "dpsosp.draw", *map(str, words)], text=True, capture_output=True,
                              env={**os.environ, "PYTHONPATH": str(SOURCE / "python"), "PYTHONDONTWRITEBYTECODE": "1",
                                   "XDG_CACHE_HOME": str(self.folder / "cache"), **environment})


class Data(Scratch):
    def test_rates_are_medians_with_ranges_of_runs_that_finished(self):
        ax = plots.rates(SMALL, y="level")
        self.assertEqual(curves(ax), {"a": [(100, 2), (1000, 1)], "b": [(100, 8)]})
        self.assertIn(((100, 1), (100, 4)), bars(ax))
        self.assertEqual(plots.notes_of(ax), "Not drawn: 1 runs failed; 1 runs without level")

    def test_columns_of_any_frame_are_the_same(self):
        columns = {name: [row[name] for row in SMALL] for name in SMALL[0]}

        class Frame(dict):
            @property
            def columns(self):
                return list(self)
        file = self.write("runs.csv", "\r\n".join(",".join("" if v is None else str(v) for v in row)
                                                  for row in (SMALL[0], *(r.values() for r in SMALL))))
        for frame in (columns, Frame(columns), file, str(file)):
            self.assertEqual(curves(plots.rates(frame, y="level")), curves(plots.rates(SMALL, y="level")))

    def test_what_a_logarithmic_axis_cannot_show_is_counted(self):
        rows = runs(*(("a", n, "finished", v) for n, v in ((0, 1), (10, 0), (20, -3), (30, 2), (40, 1), (40, -1), (40, 1))))
        ax = plots.rates(rows, y="level")
        self.assertEqual(curves(ax), {"a": [(30, 2), (40, 1)]})
        self.assertEqual(plots.notes_of(ax), "Not drawn: 1 points at or below 0, where x is logarithmic; 2 points at or "
                         "below 0, where y is logarithmic; 1 intervals reach 0 or below")
        self.assertEqual(plots.notes_of(plots.rates(rows, y="level", log=False)), "")
        ax.figure.canvas.draw()

    def test_a_sweep_has_its_slopes_and_claimed_exponents(self):
        self.write("two/cells-n.csv", "arm,records,level.median,level.low,level.high,level.n,start,runs,failed,failure\r\n"
                   "a,100,1,0.5,2,5,9,5,0,\r\na,400,0.5,0.4,0.6,4,9,5,1,not_finite\r\nb,100,,,,0,9,5,5,not_finite\r\n")
        self.write("two/slopes.csv", "part,arm,axis,unit,metric,claimed_low,claimed_high,slope,low,high,verdict\r\n"
                   "n,a,records,,level,-0.5,-0.5,-0.5,-0.6,-0.4,as claimed\r\nn,b,records,,level,-1,-1,,,,\r\n")
        ax = plots.rates(self.folder / "two")
        self.assertEqual(curves(ax)["a"], [(100, 1), (400, 0.5)])
        guide = curves(ax)["claimed exponent"]
        self.assertEqual([round(y, 12) for _, y in guide], [1, 0.5])
        self.assertIn(((100, 0.5), (100, 2)), bars(ax))
        self.assertEqual(plots.notes_of(ax), "Not drawn: 6 runs failed")
        words = [t.get_text() for t in ax.artists[0].get_texts()]
        self.assertIn("−0.500 [−0.600, −0.400] for −1/2", words)
        forest = plots.forest(self.folder / "two", axis="records")
        self.assertEqual([t.get_text() for t in forest.get_yticklabels()], ["a", "b"])
        self.assertIn(((-0.6, 0), (-0.4, 0)), bars(forest))
        self.assertEqual(plots.notes_of(forest), "Not drawn: 1 exponents not measured")
        with self.assertRaisesRegex(FileNotFoundError, "no part d, expected n"):
            plots.rates(self.folder / "two", part="d")

    def test_failed_runs_keep_a_distribution_below_one(self):
        ax = plots.ecdf(SMALL, "level", by="arm")
        self.assertEqual(curves(ax)["b"], [(8, 1 / 3)])
        self.assertEqual(curves(ax)["a"][-1], (4, 1))
        ax = plots.ranges(SMALL, "level")
        self.assertIn(((1, 0), (4, 0)), bars(ax))
        self.assertNotIn(1e9, [x for points in curves(ax).values() for x, _ in points])

    def test_contours_and_traces(self):
        grid = [{"x": x, "y": y, "value": x * x + y} for x in range(4) for y in range(3)]
        ax = plots.contour(grid, points=[{"label": "saddle", "x": 1, "y": 1}])
        self.assertEqual(ax.get_xlim(), (0, 3))
        self.assertEqual(curves(ax), {"saddle": [(1, 1)]})
        plots.save(ax, self.folder / "c.svg")
        self.assertNotRegex((self.folder / "c.svg").read_text(), r"<clipPath[^>]*>\s*<path")  # its name would be an address

    def test_svg_has_texts_of_a_length_and_each_style_once(self):
        ax = plots.rates(SMALL, y="level")
        ax.set_title(plots.text("σ & τ < 1 at x_{min}"))
        plots.save(ax, self.folder / "t.svg", title="a <b>")
        svg = (self.folder / "t.svg").read_text()
        self.assertIn("<title>a &lt;b&gt;</title>", svg)
        self.assertRegex(svg, r'<text [^>]*textLength="[\d.]+"[^>]*>σ &amp; τ &lt; 1 at x</text><text [^>]*>min</text>')
        self.assertNotIn("style=", svg)
        styles = re.findall(r"\.\w+(\{[^}]*\})", svg)
        self.assertEqual(len(styles), len(set(styles)))

    def test_svg_keeps_what_it_has_no_short_form_for(self):
        ax = plots.rates(SMALL, y="level")
        ax.bar([1], [1], hatch="/")
        plots.save(ax, self.folder / "h.svg")
        self.assertIn("<pattern", (self.folder / "h.svg").read_text())
        ax = plots.trace([{"step": t, "level": 1 / (t + 1)} for t in range(50)], "level")
        self.assertEqual((ax.get_xscale(), ax.get_yscale(), len(curves(ax)) + len(ax.lines)), ("linear", "log", 1))

    def test_thirty_curves_look_different(self):
        series = [{"label": f"method {k}", "style": k, "x": [1, 2], "y": [k + 1, k + 2]} for k in range(30)]
        made = plots.figure([{"series": series, "x": {"label": "λ_{min}(x_{t})"}}])
        drawn = {(l.get_color(), l.get_marker(), str(l.get_linestyle()), str(l._unscaled_dash_pattern)) for l in made.axes[0].lines}
        self.assertEqual(len(drawn), 30)
        self.assertEqual(len(made.legends[0].get_texts()), 30)

    def test_axes_of_the_caller_are_drawn_on_and_keep_their_style(self):
        with matplotlib.rc_context({"font.size": 20}):
            ax = matplotlib.figure.Figure().add_subplot()
            self.assertIs(plots.rates(SMALL, y="level", ax=ax), ax)
            self.assertEqual(matplotlib.rcParams["font.size"], 20)

    def test_text_means_itself_but_for_scripts(self):
        self.assertEqual(plots.text("a_b $5"), r"a_b \$5")
        self.assertEqual(plots.text("λ_{min} x^{2 d}"), r"λ$_{\mathregular{min}}$ x$^{\mathregular{2\ d}}$")
        self.assertEqual([plots.number(v) for v in (0.02, 300, -0.5)], ["0.02", "300", "−0.5"])


FIGURE = {"methods": ["smith-2027/one"], "figures": [{"id": "f", "title": "Levels", "alternative": "Level against n", "panels": [
    {"title": "Against n_{1}", "x": {"label": "records n", "scale": "log"}, "y": {"label": "level", "scale": "log"},
     "series": [{"label": "a", "algorithm": "smith-2027/one", "x": [1, 10, 100], "y": [3, None, 1], "low": [2, None, 0.5],
                 "high": [4, None, 2]}, {"label": "claimed", "dashed": True, "style": 13, "x": [1, 100], "y": [3, 1]}],
     "lines": [{"label": "start", "value": 5}], "markers": [{"label": "published", "x": 10, "y": 2}]}]}]}


class Program(Scratch):
    def test_the_same_data_are_the_same_bytes(self):
        file = self.write("f.json", FIGURE)
        bytes_of = []
        for k, zone in enumerate(("UTC", "Asia/Tokyo")):
            done = self.draw(file, "--formats", "svg,pdf,png", "--cache", "none", TZ=zone, PYTHONHASHSEED=str(k), LC_ALL="C")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            bytes_of.append([(self.folder / f"f.{e}").read_bytes() for e in ("svg", "pdf", "png")])
        self.assertEqual(*bytes_of)
        svg = bytes_of[0][0].decode()
        self.assertIn("<title>Levels</title>", svg)
        self.assertNotRegex(svg, "dc:date|" + re.escape(str(self.folder)))

    def test_what_was_drawn_is_not_drawn_again_until_it_changes(self):
        file = self.write("f.json", FIGURE)
        self.assertEqual(self.draw(file).returncode, 0)
        kept = list((self.folder / "cache").rglob("*.svg"))
        self.assertEqual(len(kept), 1)
        kept[0].write_text("kept")
        self.draw(file)
        self.assertEqual((self.folder / "f.svg").read_text(), "kept")
        self.write("f.json", json.dumps(FIGURE).replace("[3, null, 1]", "[3, null, 1.5]"))
        self.draw(file)
        self.assertNotEqual((self.folder / "f.svg").read_text(), "kept")

    def test_a_home_that_cannot_be_written_and_no_font_cache(self):
        self.write("home/.keep", "")
        (self.folder / "home").chmod(0o555)
        file = self.write("f.json", FIGURE)
        (self.folder).chmod(0o777)
        words = [sys.executable, "-m", "dpsosp.draw", str(file), "--figure", "f", "--to", str(self.folder / "g.svg")]
        package = self.folder / "package"  # a checkout may be open to its owner alone
        shutil.copytree(SOURCE / "python/dpsosp", package / "dpsosp")
        package.chmod(0o755)
        (package / "dpsosp").chmod(0o755)
        environment = {**os.environ, "PYTHONPATH": str(package), "HOME": str(self.folder / "home")}
        for name in ("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "MPLCONFIGDIR"):
            environment.pop(name, None)
        as_anybody = (lambda: os.setuid(65534)) if os.geteuid() == 0 else None
        done = subprocess.run(words, text=True, capture_output=True, env=environment, preexec_fn=as_anybody)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertTrue((self.folder / "g.svg").stat().st_size > 1000)
        self.assertEqual(os.listdir(self.folder / "home"), [".keep"])

    def test_refusals_are_one_line(self):
        file = self.write("f.json", FIGURE)
        for words, line in (
                (("none.json",), "figures: none.json: No such file or directory"),
                ((file, "--figure", "g"), f"figures: {file} has no figure 'g', expected one of f"),
                ((file, "--to", "f.jpg"), "figures: f.jpg: a figure is .svg, .pdf, .png"),
                ((self.write("g.json", {"figures": [{"id": "g"}]}),), "figures: figure 'g' has no panels")):
            done = self.draw(*words)
            self.assertEqual((done.returncode, done.stderr), (2, line + "\n"))

    def test_without_matplotlib_one_line_says_what_to_install(self):
        self.write("modules/matplotlib/__init__.py", "raise ImportError('broken')")
        done = self.draw(self.write("f.json", FIGURE), PYTHONPATH=f"{self.folder / 'modules'}:{SOURCE / 'python'}")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"^figures: \S+ cannot draw \(broken\); install python3-matplotlib .*\n$")

    def test_calls_take_a_description_in_toml_and_paths_from_its_folder(self):
        self.write("data/runs.csv", "arm,records,level\r\na,10,1\r\na,100,0.5\r\n")
        file = self.write("paper.toml", """
[[figures]]
id = "both"
columns = 2
to = ["both.svg"]
[[figures.panels]]
kind = "rates"
of = "data/runs.csv"
y = "level"
[[figures.panels]]
kind = "ecdf"
of = "data/runs.csv"
value = "level"
""")
        done = self.draw(file)
        self.assertEqual((done.returncode, done.stderr, done.stdout), (0, "", f"{self.folder / 'both.svg'}\n"))

    def test_the_one_figure_of_a_page_is_called_as_its_file(self):
        page = self.write("claims/c1.json", {"figure": {"id": "figure", "panels": [{"series": [{"x": [1, 2], "y": [3, 4]}]}]}})
        done = self.draw(page)
        self.assertEqual((done.stderr, done.stdout), ("", f"{self.folder / 'claims/c1.svg'}\n"))


if __name__ == "__main__":
    unittest.main()
