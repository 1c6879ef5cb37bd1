"""Passes the first, the third, the fifth time."""

import os
import sys
import urllib.request
from pathlib import Path

urllib.request.urlopen(os.environ["MURPHY_SHOP_URL"] + "/").read()
times = Path("times")
count = len(times.read_text()) if times.exists() else 0
times.write_text("x" * (count + 1))
sys.exit(count % 2)
