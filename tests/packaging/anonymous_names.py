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
TYPE = re.compile(r"^(?:struct|class|enum class|enum)\s+(\w+)")
ALIAS = re.compile(r"^using\s+(\w+\s*=[^;]*);")
VARIABLE = re.compile(r"^(?:inline\s+|static\s+)*(?:constexpr|const|thread_local)\s[^({=]*?\b(\w+)(?:\[[^\]]*\])?\s*[={;]")
FUNCTION = re.compile(r"^(?![#/}])[\w:<>,&*\[\]\s]*?[\s&*](\w+)\((.*)")


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


def anonymous_names(text):
    """(enclosing namespaces, name, parameters of a function) of what a source's anonymous namespaces define.

    Overloads of different lengths may share a name; of one length they are taken to clash.
    """
    names, spaces = set(), []
    text = re.sub(r'R"(\w*)\(.*?\)\1"', '""', text, flags=re.S)
    text = re.sub(r"^template <[^{;]*?>\n", "", text, flags=re.M)
    lines = text.splitlines()
    for number, line in enumerate(lines):
        opened = re.match(r"^(?:inline )?namespace\s*([\w:]*)\s*\{", line)
        if opened:
            spaces.append(opened.group(1))
            continue
        if re.match(r"^\}\s*// (?:anonymous )?namespace", line):
            spaces.pop()
            continue
        if "" not in spaces or not line or line[0] in " \t}":
            continue
        for pattern in (TYPE, ALIAS, VARIABLE, FUNCTION):
            found = pattern.match(line)
            if found:
                if pattern is ALIAS:  # an alias may be repeated as it is
                    continue
                if found.group(1) not in KEYWORDS:
                    count = arity(found.group(2), lines[number + 1:number + 20]) if pattern is FUNCTION else -1
                    names.add(("::".join(s or "(anonymous)" for s in spaces), found.group(1), count))
                break
    return names


def modules(root):
    """Folders with a CMakeLists.txt that declares a module or a program, with the sources below them.

    A benchmark is a program of one source.
    """
    for lists in sorted(root.glob("**/CMakeLists.txt")):
        folder = lists.parent
        if any(part in ("build", "tests", "benchmarks", "examples", "out") for part in folder.relative_to(root).parts):
            continue
        if not re.search(r"dpsosp_(module|program|reproduction)\(", lists.read_text(encoding="utf-8")):
            continue
        sources = [f for f in sorted(folder.glob("*.cpp")) + sorted(folder.glob("src/**/*.cpp"))]
        if sources:
            yield folder.relative_to(root), sources


def clashes(root):
    lines, seen, modules_seen = [], 0, 0
    for module, sources in modules(root):
        modules_seen += 1
        where = {}
        for source in sources:
            for name in anonymous_names(source.read_text(encoding="utf-8")):
                seen += 1
                where.setdefault(name, []).append(source.relative_to(root))
        for (space, name, _), files in sorted(where.items()):
            if len(files) > 1:
                lines.append(f"{module}: '{name}' in {space} is defined in {', '.join(map(str, files))}; "
                             "rename all but one, or share it in a header")
    return lines, seen, modules_seen


def self_test():
    text = ("namespace dpsosp {\nnamespace {\nconstexpr double pi = 3.0;\ntemplate <class T>\nT twice(T x) {\n  return 2 * x;\n}\n"
            "std::vector<int> long_name(\n    int a,\n    std::pair<int, int> b = {1, 2}) {\n}\nstruct Row {\n  int inside = 0;\n};\nusing Names = int;\n"
            "}  // namespace\nint open() {\n}\n}  // namespace dpsosp\n")
    expected = {("pi", -1), ("twice", 1), ("long_name", 2), ("Row", -1)}
    found = {(name, count) for _, name, count in anonymous_names(text)}
    if found != expected:
        sys.exit(f"the test reads {sorted(found)} where {sorted(expected)} are defined")


if __name__ == "__main__":
    self_test()
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2])
    problems, names, count = clashes(root)
    print("\n".join(problems))
    print(f"{names} names of anonymous namespaces in {count} modules, {len(problems)} clashes")
    if names < 500 or count < 15:
        sys.exit("too few names were read: the reader is broken")
    sys.exit(1 if problems else 0)
