"""Demands that what was seen is what is expected: python compare.py EXPECTED SEEN [SKIPPED...]

A line is what is asked in 24 characters, and what was seen. Where versions of a client differ, expected is what each of them sees,
separated by " | ". Lines, or sections ("== …"), that begin with a word of SKIPPED are not looked at.
"""

import pathlib
import sys

NAME = 24


def read(path):
    """What was seen, by section and name."""
    facts = {}
    section = ""
    for line in pathlib.Path(path).read_text().splitlines():
        if line.startswith("== "):
            section = line.removeprefix("== ")
        elif not section.startswith(skipped) and not line.startswith(skipped):
            facts[section, line[:NAME].strip()] = line[NAME:]
    return facts


path, seen, *words = sys.argv[1:]
skipped = tuple(words)
expected, seen = read(path), read(seen)
wrong = [
    (place, expected.get(place, "nothing"), seen.get(place, "nothing"))
    for place in expected | seen
    if seen.get(place) not in expected.get(place, "nothing").split(" | ")
]
for (section, name), wanted, fact in wrong:
    print(f"WRONG  {section}: {name}\n  expected  {wanted}\n  seen      {fact}")
sys.exit(1 if wrong else 0)
