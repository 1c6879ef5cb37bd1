"""Orders something."""

import os
import sys
import urllib.error
import urllib.request

try:
    urllib.request.urlopen(os.environ["SHOP"] + "/order", timeout=10).read()
except urllib.error.HTTPError as error:
    sys.exit(f"no order: {error.read().decode()}")
