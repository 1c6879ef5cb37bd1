"""Orders something: check.py [HOW]."""

import os
import sys
import urllib.error
import urllib.request

how = sys.argv[1] if sys.argv[1:] else "order"
try:
    urllib.request.urlopen(f"{os.environ['SHOP']}/{how}", timeout=10).read()
except urllib.error.HTTPError as error:
    sys.exit(f"no order: {error.read().decode()}")
