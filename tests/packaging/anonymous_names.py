#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Names in anonymous namespaces are unique in a module.

The preset `release` compiles the sources of a module in batches, and a new file shifts which sources share
one. Two functions, constants or types of one name in anonymous namespaces of two sources then meet in a
stranger's build. This test reads the sources as clang-format leaves them: what a namespace holds begins at
the first column.

usage: anonymous_names.py [SOURCE_FOLDER]
Exit code 1 and one line for each name that two sources of a module have.
"""
import pathlib
import re
import sys

KEYWORDS = {"if", "for", "while", "switch", "return", "operator", "requires", "decltype", "alignas", "noexcept"}
TYPE = re.compile(r"^(?:struct|class|union|enum class|enum|concept)\s+(?:\[\[\w+\]\]\s*)?(\w+)")
ALIAS = re.compile(r"^using\s+(\w+)\s*=\s*([^;]*)")
NOT_A_VARIABLE = re.compile(r"^(?:using|friend|static_assert|extern|typedef|struct|class|union|enum|namespace|concept|#)")
VARIABLE = re.compile(r"^[^({=]*?[\s&*](\w+)(?:\[[^\]]*\])?\s*[={;]")
FUNCTION = re.compile(r"^(?![#/}])[\w:<>,&*\[\]\s]*?[\s&*](\w+)\((.*)")
MACRO = re.compile(r"^#define\s+(\w+)")


def arity(rest, lines):
    """Parameters of a function whose list begins with `rest` and goes on in `lines`."""
    depth, count, empty = 0, 1, True
    for char in rest + "\n" + "\n".join(lines):
        if char == ")" and depth == 0:
            return 0 if empty else count
        depth += char in "(<[{"
        depth -= char in ")>]}"
        count += char == "," and depth == 0
        empty = empty and char.isspace()
    return count


def without_arguments(line):
    """The line without its template arguments, which may hold parentheses and commas."""
    before = None
    while line != before:
        before, line = line, re.sub(r"(?<=\w)<[^<>]*>", "", line.replace("->", "  "))
    return line


def prepared(text):
    """Lines without raw strings, heads of templates, and breaks between a function's type and name."""
    text = re.sub(r'R"(\w*)\(.*?\)\1"', '""', text, flags=re.S)
    text = re.sub(r"^__extension__ ", "", text, flags=re.M)
    text = re.sub(r"^template <[^{;]*?>\n", "", text, flags=re.M)
    text = re.sub(r"^requires [\w:<>]+(?: (?:&&|\|\|) [\w:<>]+)*\s+", "", text, flags=re.M)
    text = re.sub(r"^([\w:][^\n;{}()#]*[\w>&*])\n(?=\w+\()", r"\1 ", text, flags=re.M)
    text = re.sub(r"^using \w+ =[^;]*;", lambda alias: " ".join(alias.group().split()), text, flags=re.M)
    return [line if line.startswith("using ") else without_arguments(line) for line in text.splitlines()]


def anonymous_names(text):
    """(enclosing namespaces, name, what) of all that a source's anonymous namespaces and macros define.

    `what` is the number of a function's parameters, an alias's type, or empty. Overloads of different
    lengths may share a name; of one length they are taken to clash. An alias may be repeated as it is.
    """
    names, spaces = set(), []
    lines = prepared(text)
    for number, line in enumerate(lines):
        macro = MACRO.match(line)
        if macro and f"#undef {macro.group(1)}" not in text:
            names.add(("a macro", macro.group(1), ""))
        opened = re.match(r"^(?:inline )?namespace\s*([\w:]*)\s*\{(?!.*\})", line)
        if opened:
            spaces.append(opened.group(1))
            continue
        if re.match(r"^\}\s*// (?:anonymous )?namespace", line):
            del spaces[-1:]  # nothing where two branches of #if close the same namespace
            continue
        if "" not in spaces or not line or line[0] in " \t}" or line.startswith("//"):
            continue
        space = "::".join(s or "(anonymous)" for s in spaces)
        alias, kind = ALIAS.match(line), TYPE.match(line)
        variable = None if NOT_A_VARIABLE.match(line) else VARIABLE.match(line)
        function = FUNCTION.match(line)
        if alias:
            names.add((space, alias.group(1), alias.group(2)))
        elif kind or variable:
            names.add((space, (kind or variable).group(1), ""))
        elif function and function.group(1) not in KEYWORDS:
            names.add((space, function.group(1), arity(function.group(2), lines[number + 1:number + 20])))
    return names


def modules(root):
    """Folders with a CMakeLists.txt that declares a module or programs, with the sources below them."""
    for lists in sorted(root.glob("**/CMakeLists.txt")):
        folder = lists.parent
        # A benchmark is a program of one source.
        if any(part in ("build", "benchmarks", "examples", "out") for part in folder.relative_to(root).parts):
            continue
        if not re.search(r"dpsosp_(module|program|reproduction|test)\(", lists.read_text(encoding="utf-8")):
            continue
        sources = [f for f in sorted(folder.glob("*.cpp")) + sorted(folder.glob("src/**/*.cpp"))]
        if sources:
            yield folder.relative_to(root), sources


def meet(one, other):
    """Whether two definitions of a name, as anonymous_names has them, cannot stand in one batch."""
    if isinstance(one, int) and isinstance(other, int):
        return one == other
    return not one or one != other


def clashes(root):
    lines, seen, modules_seen = [], 0, 0
    for module, sources in modules(root):
        modules_seen += 1
        where = {}
        for source in sources:
            for space, name, what in anonymous_names(source.read_text(encoding="utf-8")):
                seen += 1
                where.setdefault((space, name), []).append((what, source.relative_to(root)))
        for (space, name), places in sorted(where.items()):
            files = sorted({file for what, file in places for other, there in places
                            if file != there and meet(what, other)})
            if files:
                lines.append(f"{module}: '{name}' in {space} is defined in {', '.join(map(str, files))}; "
                             "rename all but one, or share it in a header")
    return lines, seen, modules_seen


def self_test():
    text = ("namespace dpsosp {\nnamespace {\nconstexpr double pi = 3.0;\ntemplate <class T>\nT twice(T x) {\n  return 2 * x;\n}\n"
            "std::vector<int> long_name(\n    int a,\n    std::pair<int, int> b = {1, 2}) {\n}\nstruct Row {\n  int inside = 0;\n};\n"
            "using Names = std::set<int>;\nstd::mutex lock;  // of all\nstd::function<double(double, int)> root(double x) {\n}\n"
            "// a comment = 1;\nstd::pair<int, int>\nboth(int x, int y) {\n}\n#define TWO 2\n#define ONE 1\n#undef ONE\n}  // namespace\nint open() {\n}\n"
            "}  // namespace dpsosp\n")
    expected = {("pi", ""), ("twice", 1), ("long_name", 2), ("Row", ""), ("Names", "std::set<int>"), ("lock", ""), ("root", 1), ("both", 2),
                ("TWO", "")}
    found = {(name, what) for _, name, what in anonymous_names(text)}
    if found != expected:
        sys.exit(f"the test reads {found - expected} too much and {expected - found} not")
    if meet(1, 2) or meet("int", "int") or not (meet(1, 1) and meet("int", "double") and meet("", "") and meet(1, "")):
        sys.exit("the test does not tell what can stand in one batch")


if __name__ == "__main__":
    self_test()
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2])
    problems, names, count = clashes(root)
    print("\n".join(problems))
    print(f"{names} names of anonymous namespaces in {count} modules, {len(problems)} clashes")
    if names < 500 or count < 15:
        sys.exit("too few names were read: the reader is broken")
    sys.exit(1 if problems else 0)
