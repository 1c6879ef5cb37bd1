"""One request by itself, then two at once."""

import os
import threading
import time
import urllib.request

gate = os.environ["GATE"]


def ask(path):
    with urllib.request.urlopen(gate + path, timeout=10) as answer:
        assert answer.read() == b"ok"


ask("/alone")
left = threading.Thread(target=ask, args=["/left"])
left.start()
time.sleep(0.03)
ask("/right")
left.join()
