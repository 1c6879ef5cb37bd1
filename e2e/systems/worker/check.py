"""Books two rooms and looks at them: the mails are sent meanwhile or later."""

import os
import time
import urllib.request

booking = os.environ["BOOKING"]
for path in ("/book/1", "/bookings", "/book/2", "/bookings"):
    with urllib.request.urlopen(booking + path, timeout=10) as answer:
        assert answer.read() == b"ok"
# The mails are part of the execution.
time.sleep(0.3)
