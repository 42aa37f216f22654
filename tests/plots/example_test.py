# SPDX-License-Identifier: Apache-2.0
"""example_test.py SOURCE_FOLDER: runs the cells of examples/figure.py on a small sweep. Exit code 77: no matplotlib."""
import pathlib
import subprocess
import sys
import tempfile

try:
    import matplotlib  # noqa: F401
except ImportError as e:
    print(f"matplotlib is not installed for {sys.executable} ({e})")
    sys.exit(77)
source = pathlib.Path(sys.argv[1]).resolve()
with tempfile.TemporaryDirectory() as scratch:
    folder = pathlib.Path(scratch) / "my-sweep"
    folder.mkdir()
    metric = "trace.mean_gradient_norm"
    columns = ",".join(f"{metric}.{what}" for what in ("median", "low", "high", "n"))
    cells = [f"{arm},{n},{y},{0.9 * y},{1.2 * y},5,9,5,0," for arm, e in (("DP-SPIDER", 2 / 3), ("DP-GD", 0.5))
             for n in (1e4, 1e5, 1e6) for y in (n ** -e,)]
    (folder / "cells-n.csv").write_text("\r\n".join([f"arm,records,{columns},start,runs,failed,failure", *cells, ""]))
    (folder / "slopes.csv").write_text(
        "part,arm,axis,unit,metric,claimed_low,claimed_high,slope,low,high,verdict\r\n"
        f"n,DP-SPIDER,records,,{metric},-0.6667,-0.6667,-0.67,-0.69,-0.65,as claimed\r\n"
        f"n,DP-GD,records,,{metric},-0.5,-0.5,-0.51,-0.53,-0.49,as claimed\r\n")
    cells_of = (source / "examples/figure.py").read_text(encoding="utf-8").split("# %%")
    assert len(cells_of) == 5, len(cells_of)
    done = subprocess.run([sys.executable, "-B", source / "examples/figure.py", folder], text=True, capture_output=True)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    for name in ("levels.svg", "levels.pdf", "paper.svg", "paper.pdf"):
        assert (folder / name).stat().st_size > 1000, name
