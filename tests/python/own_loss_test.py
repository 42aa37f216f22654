# SPDX-License-Identifier: Apache-2.0
"""own_loss_test.py PROGRAM SOURCE_FOLDER: a table with a loss is a problem in Python, as docs/own-loss.md has it."""
import importlib.util
import os
import pathlib
import re
import sys
import tempfile

program, source = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
os.environ["DPSOSP"] = program
spec = importlib.util.spec_from_file_location("dpsosp", source / "python/dpsosp/experiments.py")
dpsosp = importlib.util.module_from_spec(spec)  # the package itself needs NumPy
sys.modules["dpsosp"] = dpsosp
spec.loader.exec_module(dpsosp)
os.chdir(source)

page = (source / "docs/own-loss.md").read_text(encoding="utf-8")
told = {}
exec(re.search(r"^```python\n(.*?)^```", page, re.S | re.M)[1], told)
mine = told["mine"]
assert told["checked"] and told["audited"], told
by_name = dpsosp.run("abadi-2016/dp-sgd", "own-glm", problem_settings=mine.settings, epsilon=1, delta=1e-4)
assert told["result"]["point"] == by_name["point"] and told["result"]["privacy"] == by_name["privacy"]
assert dpsosp.certify(mine, told["result"]["point"])["gradient_norm"] == told["result"]["output"]["gradient_norm"]
assert dpsosp.check(dpsosp.Problem(data=mine.settings["data"], loss="0.5*(t - y)^2"))["passed"]
assert not dpsosp.audit("wang-ye-xu-2017/dp-gd", mine, plant="batch-mean-clip")["passed"]

with tempfile.TemporaryDirectory() as folder:
    file = pathlib.Path(folder, "mine.toml")
    file.write_text(f"title = \"Mine\"\nmetric = \"output.gradient_norm\"\nseeds = 1\nnoise = \"calibrated\"\n"
                    f"epsilon = 1\ndelta = 1e-4\n{told['arm']}[[part]]\nname = \"n\"\naxes = [{{ records = [300, 600] }}]\n")
    dpsosp.sweep(file, out=folder)
    assert len(pathlib.Path(folder, "mine/runs.csv").read_text().splitlines()) == 3

for settings, line in (({"loss": "t + "}, "loss: column 5: the end, expected a number"),
                       ({"loss": "t^2", "penalty": "abs(t)", "regulariser": 1}, "penalty: its first derivative jumps"),
                       ({"los": "t"}, "did you mean 'loss'")):
    try:
        dpsosp.run("abadi-2016/dp-sgd", dpsosp.Problem(data=mine.settings["data"], **settings), epsilon=1, delta=1e-4)
        raise AssertionError(settings)
    except dpsosp.Failed as e:
        assert line in str(e) and e.code == 2, e
