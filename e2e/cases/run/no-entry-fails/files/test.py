import os
import sys

if "SHOP_URL" not in os.environ:
    sys.exit("SHOP_URL is not set")
