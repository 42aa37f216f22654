# SPDX-License-Identifier: Apache-2.0
"""outside.py ROOT: fails if code outside trusted/ takes a way round its types that C++ leaves open.

These are a specialisation or a second definition of what sums records, an explicit instantiation,
which may name private members, and, in the source of a loss, what could keep a record for the next one or
write into what it was shown.
"""
import pathlib
import re
import sys

NAMES = ("AnyRecords|ClippedSums|DenseSums|KindSums|Members|NoTraces|RecordTable|Records|RowSums|"
         "SimulatedSums|UncheckedRecords|admit|simulate")
PARAMETERS = r"template *<[^;{]*> *"
WAYS_ROUND = re.compile(
    rf"template *< *>[^;{{(]*\b(?:{NAMES})\b[^;{{]*"
    rf"|(?:{PARAMETERS})?\b(?:class|struct) (?:[\w:]*::)?(?:{NAMES})(?: *<[^;{{]*>)?(?: final)? *[:{{]"
    rf"|\btemplate +(?!<)[^;{{]*& *[\w:<>]+::\w+[^;{{]*;")
KEEPS = re.compile(
    r"\b(?:mutable|volatile|const_cast|const_cast_derived|thread_local|asm|goto|s?rand|rand_r|"
    r"[a-z]rand48|errno|fe(?:set|clear|raise|hold|update)[a-z]*|_mm_[sg]etcsr|setCpuCacheSizes|"
    r"setNbThreads|[sg]etenv|setlocale|gnu::\w+|__attribute__|j?thread|async|pthread_\w+|sigaction|"
    r"atexit|[io]?fstream|fopen|std::function)\b")

root = pathlib.Path(sys.argv[1])
files = losses = 0
found = []
for folder in sorted(root.iterdir()):
    if folder.name in ("trusted", "tests", "build", "out") or not folder.is_dir():
        continue
    for file in sorted(folder.rglob("*.[ch]pp")):
        files += 1
        text = re.sub(r"//.*", "", file.read_text())
        found += [f"{file}: {way}" for way in WAYS_ROUND.findall(re.sub(r"\s+", " ", text))]
        if re.search(r"\b(?:DenseRecord|CommonLoss|KindLoss)\b|\b(?:encoded<|RecordEnding::|struct RecordEnding\b)",
                     text):
            losses += 1
            found += [f"{file}: {word}" for word in KEEPS.findall(text)]
if files < 400 or losses < 10:
    sys.exit(f"only {files} sources, {losses} with a loss")
if found:
    sys.exit("\n".join(found))
