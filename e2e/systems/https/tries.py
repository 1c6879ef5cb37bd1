"""Asks two hosts, of which one may not be reached: that is no failure."""

import sys
import urllib.request

for host in ("prices.test", "telemetry.test"):
    try:
        urllib.request.urlopen(f"https://{host}/tea", timeout=10).read()
    except OSError as error:
        if host == "prices.test":
            sys.exit(f"no price: {error}")
