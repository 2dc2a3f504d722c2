#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""clang-format with two liberties kept: columns that an author chose (comments at line ends, tables) stay, and so do
line breaks, except in control statements. Without --check the files are rewritten; with it, what would change is printed."""
import difflib
import re
import subprocess
import sys


def normal(line):
    """The line as far as columns do not count: before a comment at its end, after a comma, in a #define."""
    line = re.sub(r"(?<=\S)\s+(/\*|//)", r" \1", line.rstrip())
    line = re.sub(r",\s+(?=\S)", ", ", line)
    return re.sub(r"\s+", " ", line) if line.startswith("#define") else line


def squeezed(lines):
    """The text without line breaks, columns, and the blanks clang-format 14 puts around unary operators after a cast or a brace."""
    lines = [re.sub(r"(?<=[)}]) ?([*-]) ?(?=[\w(])", r"\1", line) for line in lines]
    return re.sub(r"(?<=[({\[]) | (?=[)}\]])", "", " ".join(" ".join(lines).split()))


def indent(line):
    return line[:len(line) - len(line.lstrip())]


def only_breaks(old, new):
    """True when the two differ in where lines are broken, which tables and long expressions may choose for themselves."""
    if any(re.match(r"\s*(if|else|for|while|do|switch)\b|.*\belse\b", line) for line in old):
        return False
    return squeezed(old) == squeezed(new)


def merged(old, new, before):
    """Of a stretch that differs: the author's lines where only breaks or the columns of continuation lines differ."""
    if any(line.startswith("#") for line in old):
        return old  # a macro is laid out by hand
    if len(old) != len(new) or any(squeezed([a]) != squeezed([b]) for a, b in zip(old, new)):
        return old if only_breaks(old, new) else new
    result = []
    for mine, theirs in zip(old, new):
        continuation = not re.search(r"([;{}:]|\*/)$|^\s*$", re.sub(r"\s*(/\*.*\*/|//.*)$", "", before))
        result.append(mine if continuation or indent(mine) == indent(theirs) else theirs)
        before = theirs
    return result


def formatted(path):
    with open(path, encoding="utf-8") as f:
        old = f.read().split("\n")
    text = subprocess.run(["clang-format", path], check=True, capture_output=True, text=True).stdout
    new = text.split("\n")
    result = []
    matcher = difflib.SequenceMatcher(None, [normal(l) for l in old], [normal(l) for l in new], autojunk=False)
    for op, i1, i2, j1, j2 in matcher.get_opcodes():
        result += old[i1:i2] if op == "equal" else merged(old[i1:i2], new[j1:j2], new[j1 - 1] if j1 else "")
    return old, result


def main():
    check = "--check" in sys.argv
    differ = 0
    for path in (a for a in sys.argv[1:] if a != "--check"):
        old, new = formatted(path)
        if old == new:
            continue
        differ += 1
        if check:
            print("\n".join(difflib.unified_diff(old, new, path, path + " (formatted)", lineterm="", n=1)))
        else:
            with open(path, "w", encoding="utf-8") as f:
                f.write("\n".join(new))
            print("formatted", path)
    if check and differ:
        print(f"{differ} files are not in the house style: make format", file=sys.stderr)
        return 1
    return 0


sys.exit(main())
