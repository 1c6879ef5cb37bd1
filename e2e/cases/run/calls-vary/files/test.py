"""Looks into the shop once or twice, in turn."""

import pathlib
import sys
import urllib.request

times = pathlib.Path("times")
number = int(times.read_text()) + 1 if times.exists() else 1
times.write_text(str(number))
for _ in range(2 - number % 2):
    urllib.request.urlopen(sys.argv[1] + "/").read()
