# SPDX-License-Identifier: Apache-2.0
# From a sweep to a paper's figure. Cells stand between lines of percent signs: Jupyter, VS Code and Spyder run them one by one, and
# `python3 examples/figure.py out/my-sweep` runs all. `dpsosp sweep examples/my-sweep.toml` writes that folder.

# %% What is drawn: the folder of a sweep, and the package of this checkout.
import pathlib
import sys

here = pathlib.Path(__file__).resolve().parent if "__file__" in globals() else pathlib.Path("examples").resolve()
sys.path.insert(0, str(here.parent / "python"))
import dpsosp.plots as plots

sweep = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "out/my-sweep")

# %% The figure of a part as it is: medians over seeds, ranges, measured slopes and claimed exponents.
axes = plots.rates(sweep, part="n")
axes.legend()

# %% The same with words of your own. An Axes is matplotlib's: whatever you know of it works.
axes.set_title("")
axes.set_xlabel("number of records $n$")
axes.set_ylabel(r"mean of $\Vert\nabla F(x_t)\Vert$")
plots.save(axes, sweep / "levels.svg", sweep / "levels.pdf")

# %% Two panels of a column's width: levels, and exponents with their intervals.
import matplotlib.figure

with plots.style():
    page = matplotlib.figure.Figure(figsize=(6.8, 2.6), layout="constrained")
    left, right = page.subplots(1, 2)
    plots.rates(sweep, part="n", ax=left)
    plots.forest(sweep, axis="records", part="n", ax=right)
    left.set_title("(a) levels")
    right.set_title("(b) exponents in n")
    left.legend(fontsize=7)
plots.save(page, sweep / "paper.pdf", sweep / "paper.svg")
print(sweep / "paper.pdf")
