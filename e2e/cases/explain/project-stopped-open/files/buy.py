"""A test that takes its time to fail: longer than the campaign may take."""

import sys
import time
import urllib.request

try:
    with urllib.request.urlopen(sys.argv[1] + "/buy") as answer:
        answer.read()
except OSError:
    time.sleep(5)
    sys.exit("nothing was bought")
