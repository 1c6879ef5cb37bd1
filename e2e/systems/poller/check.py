"""Books two rooms and looks at them."""

import os
import urllib.request

for path in ("/book/1", "/list", "/book/2"):
    with urllib.request.urlopen(os.environ["GATE"] + path, timeout=10) as answer:
        assert answer.read() == b'"ok"'
