# SPDX-License-Identifier: Apache-2.0
"""mistakes_test.py PROGRAM SOURCE_FOLDER: what authors get wrong is refused in one line that names it."""
import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ModuleNotFoundError:
    print("NumPy is not installed for", sys.executable)
    sys.exit(77)

program, source = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
folder = pathlib.Path(tempfile.mkdtemp())
failures = 0


def check(name, found, expected):
    global failures
    if expected not in found:
        failures += 1
        print(f"FAIL {name}\n  expected {expected}\n  found    {found.strip()[-600:]}", file=sys.stderr)


def started(text, settings=""):
    """A run of this program: its exit, the lines that it printed, its result."""
    (folder / "mine.py").write_text("import threading\nimport numpy as np\nimport dpsosp\n" + text)
    (folder / "mine.toml").write_text(f"""key = "test/mine"
title = "Mine"
program = "mine.py"
interpreter = "/usr/bin/python3"
reads = ["{source}/python"]
{settings}""")
    return subprocess.run([program, "run", "--program", folder / "mine.toml", *"--problem double-well --records 200 "
                           "--dimension 4 --epsilon 1 --delta 1e-6 --seed 918273645546372819 --json "
                           "--show-output".split()], capture_output=True, text=True, check=False, timeout=100)


MINE = """class Mine(dpsosp.Algorithm):
    def plan(self, facts, budget):
        return {plan}
    def run(self, curator, stream):
        x = curator.facts.initial_point.copy()
        {body}
dpsosp.serve(Mine)
"""


def run(body, plan="[dpsosp.Planned(5)]", settings=""):
    return started(MINE.format(plan=plan, body=body.replace("\n", "\n        ")), settings)


# Questions: all in one run, which goes on after each.
QUESTIONS = {
    "stream.below(0)": "below: count = 0, expected an integer in [1, 2^63)",
    "stream.below(-3)": "below: count = -3, expected an integer in [1, 2^63)",
    "stream.below(2**70)": "below: count = 1180591620717411303424, expected an integer in [1, 2^63)",
    "stream.words(-4)": "words: count = -4, expected an integer in [0, 2^63)",
    "stream.normal(-4)": "normal: count = -4, expected an integer in [0, 2^63)",
    "stream.child(-1)": "child: index = -1, expected an integer in [0, 2^64)",
    "stream.ball(-1, 3)": "ball: radius = -1, expected a finite number >= 0",
    "stream.ball(float('nan'), 3)": "ball: radius = nan, expected a finite number >= 0",
    "stream.ball(1, 0)": "ball: dimension = 0, expected an integer in [1, 2^20]",
    "curator._host.ask('ball', b'', 0, 1.0, 2**40)": "ball: dimension = 1099511627776, expected an integer in [1, 2^20]",
    "curator._host.ask('ball', b'', 0, float('nan'), 4)": "ball: radius = nan, expected a finite number >= 0",
    "ask([1.0, 2.0, None, 0.0])": "gradient: x[2] = None, expected a number",
    "ask(np.array([1.0, '2', 3, 4], dtype=object))": "gradient: x[1] = '2', expected a number",
    "ask(x, block=3)": "gradient: block = 3, expected a printable text",
    "self.show_estimate(0, x, [None] * 4)": "show_estimate: gradient[0] = None, expected a number",
    "self.show(-5, x)": "show: t = -5, expected an integer in [0, 2^53]",
    "self.show(0, x[:2])": "show: x = array([0., 0.]), expected d = 4 numbers",
    "curator.child(5)": "child: name = 5, expected a printable text",
    "curator.child('a\\n')": "child: name = 'a\\n', expected a printable text",
    "curator.child('b', records=(0, 10, 20))": "child: records = (0, 10, 20), expected None or (begin, end)",
    "curator.child('b', records=5)": "child: records = 5, expected None or (begin, end)",
    "curator.child('b', suboptimality='1')": "child: suboptimality = '1', expected a number",
    "curator.child('b', pure_share='1')": "child: pure_share = '1', expected a number",
    "curator.child('b', pure=2)": "child: pure = 2, expected True or False",
    "curator.child('b', projection=np.ones((2, 2, 2)))": "child: projection = an array of shape (2, 2, 2) of float64, ",
    "curator.child('b', projection=[[None, 1.0]])": "child: projection = [[None, 1.0]], expected a matrix of real numbers",
    "curator.child('b', projection=[[1.0], [1.0, 2.0]])":
        "child: projection = [[1.0], [1.0, 2.0]], expected a matrix of real numbers",
    "curator.child('b', share=1.5)": "child curator: share = 1.5, expected in (0, 1]",
    "curator.child('b', share=float('nan'))": "child curator: share = nan, expected in (0, 1]",
    "curator.child('b', share=0.1, pure_share=1.5)": "child curator: pure_share = 1.5, expected in [0, 1]",
    "curator.draw(dpsosp.Policy('fresh', 3.0))": "draw: policy.size = 3.0, expected an integer",
    "curator.draw(dpsosp.fresh(curator.facts.records / 100))": "fresh: size = 2.0, expected an integer",
    "curator.draw(100)": "draw: policy = 100, expected ALL, fresh(size), sample(size) or poisson(rate)",
    "curator.gradient(x, None, limit=1.0, noise=90.0)": "gradient: batch = None, expected what curator.draw() returned",
    "curator.gradient(x, b, limit='1.0', noise=90.0)": "gradient: limit = '1.0', expected a number",
    "curator.hessian_product(x, x, b, limit=1.0, noise='much')": "hessian_product: noise = 'much', expected a number",
    "ask(['a'])": "gradient: x = ['a'], expected a vector of real numbers",
    "ask(0j * x)": "gradient: x = array([",
    "self.calibrated([dpsosp.Planned(5, dpsosp.Policy('poisson', 0, 'x'))])": "plan: policy.rate = 'x', expected a number",
}
done = run(f"""b = curator.draw()
def ask(*point, **more): return curator.gradient(*point, b, limit=1.0, noise=90.0, **more)
for q in {list(QUESTIONS)!r}:
    try: print("answered", eval(q))
    except ValueError as e: print(type(e).__name__, e)
    except Exception as e: print("of no value:", type(e).__name__, e)
curator.child('suboptimality of NumPy', share=0.1, suboptimality=np.float32(1), pure=np.bool_(False))
for b in (np.arange(4), [1, 2.0, 3, 4], (1, np.float32(2), True, 4)): stream.child(1); self.show(0, b)
return x""")
check("the run with all questions", done.stdout, '"steps_done"')
told = done.stderr.splitlines()
check("as many answers as questions", str(len(told)), str(len(QUESTIONS)))
for (question, line), answer in zip(QUESTIONS.items(), told):
    check(question, answer, "InputError " + line)

# Large balls have the numbers of their parts: d normals, and the word after them for the radius.
for d in (3, 4096, 5000, 20000):
    done = run(f"""n, ball, parts = stream.child(1).normal({d}), stream.child(1), stream.child(1)
found = ball.ball(2.0, {d})
assert np.array_equal(n, np.concatenate([parts.normal(1), parts.normal(2), parts.normal({d} - 3)]))
expected = n * (2.0 * parts.uniform(1)[0] ** (1.0 / {d}) / np.linalg.norm(n))
print(np.allclose(found, expected, rtol=1e-13, atol=0), ball.words(1) == parts.words(1))
return x""")
    check(f"a ball of {d}", done.stderr, "True [ True]")

# One thread asks. A handle may be let go by any.
done = run("""from concurrent.futures import ThreadPoolExecutor
b = curator.draw()
before = curator.remaining()
def ask(question):
    try: return f"answered {question()}"
    except RuntimeError as e: return str(e)
with ThreadPoolExecutor(4) as pool:
    for question in (lambda: curator.gradient(x, b, limit=1.0, noise=90.0), curator.remaining, lambda: stream.words(1),
                     lambda: self.show(0, x)):
        print(set(pool.map(ask, [question] * 8)))
held = [curator.draw(dpsosp.fresh(3)), curator.tree(9.0, 3), curator.hessian_stream()]
other = threading.Thread(target=held.clear)
other.start(); other.join()
print(curator.remaining()[0] == before[0], len(held), stream.child(2).words(1).size)
return x""")
check("the run with threads", done.stdout, '"steps_done"')
check("what threads are told", done.stderr, 4 * "{\"asked from another thread than the run's; ask from one thread\"}\n")
check("after the threads", done.stderr, "thread\"}\nTrue 0 1\n")

# An answer that nobody took is not that of the next question.
done = run("""channel, more = curator._host.channel, curator._host.channel._more
def interrupted(): raise KeyError("a handler of signals")
channel._more = interrupted
try: curator.label()
except KeyError: channel._more = more
for question in (curator.fresh_records, curator.label, lambda: stream.words(1)):
    try: print("answered", question())
    except RuntimeError as e: print(e)
return x""")
check("a question after an interrupt", done.stderr, 3 * ("a question was interrupted before its answer came, so that "
      "later answers would be taken for others; the run cannot go on\n"))

# What was refused was not shown.
done = run("""self.show(0, x)
def elsewhere():
    try: self.show(1, x + 100)
    except RuntimeError: pass
other = threading.Thread(target=elsewhere)
other.start(); other.join()
while True: curator.gradient(x, curator.draw(), limit=1.0, noise=self.noise)""")
check("the point shown last", str(json.loads(done.stdout)["point"] == [0.0] * 4 or
                                  max(map(abs, json.loads(done.stdout)["point"])) < 50), "True")
os.environ["PYTHONPATH"] = str(source / "python")
sys.path.insert(0, str(source / "python"))
sys.dont_write_bytecode = True
from dpsosp._wire import Channel  # noqa: E402

host, guest = socket.socketpair()
os.environ["DPSOSP_SOCKET"] = str(guest.detach())
channel = Channel()
reader, writer = os.pipe()
if os.fork() == 0:
    try:
        channel.post("remaining", 0)
    except RuntimeError as e:
        os.write(writer, str(e).encode())
    os._exit(0)
os.wait()
os.close(writer)
check("a forked process", os.read(reader, 1000).decode(), "asked from another process than the run's; ask from one process")
host.close()
channel.post("remaining", 0)
try:
    channel.flush()
    check("a send to nobody", "was sent", "fails")
except OSError:
    channel.flush()  # nothing is left that could be sent twice

# The output after a refusal is the point that was shown, whatever became of its array.
for start in ("x = x + 0.5", "x = list(x)", "x = curator.facts.initial_point"):
    done = run(f"""{start}
for t in range(20):
    {"pass" if "facts" in start else "self.show(t, x); print([float(c) for c in x])"}
    x[0] -= 1.0
    curator.gradient(x, curator.draw(), limit=1.0, noise=self.noise)
return x""")
    result = json.loads(done.stdout or "{}")
    shown = done.stderr.splitlines()[-1:] or [str(result.get("facts"))]
    point = result.get("point")
    check(f"ends early after {start}", str(result.get("algorithm", {}).get("status")), "budget")
    if "facts" not in start:
        check(f"the output of {start}", str(point), shown[0])
    else:
        check("the output before any point is shown", str(point and point[0] > -1), "True")

# Plans, which the host judges.
for policy, line in (("dpsosp.poisson(1.5)", "plan: rate = 1.5, expected in (0, 1]"),
                     ("dpsosp.poisson(0)", "plan: rate = 0, expected in (0, 1]"),
                     ("dpsosp.poisson(float('nan'))", "plan: rate = nan, expected in (0, 1]"),
                     ("dpsosp.sample(201)", "plan: size = 201, expected in [1, records] with records = 200"),
                     ("dpsosp.fresh(0)", "plan: size = 0, expected in [1, records] with records = 200"),
                     ("dpsosp.sample(-1)", "plan: size = -1, expected in [1, records] with records = 200")):
    check(policy, run("return x", f"[dpsosp.Planned(5, {policy})]").stderr, line)
for plan, line in (("None", "Mine.plan returned None, expected a list of dpsosp.Planned"),
                   ("[dpsosp.Planned(5 / 2)]", "plan: count = 2.5, expected an integer")):
    check(plan, run("return x", plan).stderr, "the program says: " + line)
raw = "setattr(self, '_plan', [1, 'poisson', 0, 1.5, 5, 'one_query']) or []"
check("a plan that is only told", run("return x", raw).stderr, "plan: rate = 1.5, expected in (0, 1]")

# Outputs.
for output, line in (("None", "Mine.run returned None, expected the point where it ends, d = 4 numbers"),
                     ("x[:1]", "Mine.run returned array(["),
                     ("x[None, :]", "Mine.run returned array([["),
                     ("[1.0, None, 0.0, 0.0]", "Mine.run: point[1] = None, expected a number"),
                     ("np.array([None] * 4)", "Mine.run: point[0] = None, expected a number"),
                     ("dpsosp.Outcome(x, counts={5: 1})", "Outcome: a name of counts = 5, expected a printable text"),
                     ("dpsosp.Outcome(x, counts={'a': 2**53 + 1})",
                      "Outcome: counts['a'] = 9007199254740993, expected an integer in [-2^53, 2^53]"),
                     ("dpsosp.Outcome(x, counts=3)", "Outcome: counts = 3, expected a dict of texts and integers"),
                     ("dpsosp.Outcome(x, steps=-3)", "Outcome: steps = -3, expected an integer in [0, 2^53]"),
                     ("dpsosp.Outcome(x, status=None)", "Outcome: status = None, expected a printable text")):
    check(output, run("return " + output).stderr, "the program says: " + line)

# Classes and settings.
check("no run", started("class Mine(dpsosp.Algorithm):\n    pass\ndpsosp.serve(Mine)\n").stderr,
      "the program says: Mine has no run(self, curator, stream)")
reserved = "calibrated, deviations, given, noise, parameters, plan, run, show, show_estimate, and all that begin with _"
for setting in ("run", "show", "plan", "given", "deviations", "noise", "_last"):
    check("setting " + setting, run("return x", settings=f"[settings.{setting}]\ndefault = 1\n").stderr,
          f"setting '{setting}' has a name that dpsosp.Algorithm keeps, as it does {reserved}")
check("a setting named like a method",
      started(MINE.format(plan="[]", body="return x\n    def half(self): pass"), "[settings.half]\ndefault = 1\n").stderr,
      "setting 'half' has the name of a method of Mine; rename one of them")

# Without what the package needs.
for module, code in (("numpy", "import dpsosp"), ("pandas", "import dpsosp; dpsosp.frame('out')")):
    alone = subprocess.run(["/usr/bin/python3", "-B", "-c", f"import sys; sys.modules['{module}'] = None; {code}"],
                           capture_output=True, text=True, check=False)
    check("without " + module, alone.stderr.splitlines()[-1], f"ImportError: No module named '{module}', which dpsosp")
    check("without " + module, alone.stderr, f": `apt install python3-{module}` or `pip install {module}`")
    check("without " + module, str(alone.stderr.count("Traceback")), "1")

for file in folder.iterdir():
    file.unlink()
folder.rmdir()
sys.exit(1 if failures else 0)
