import os
import urllib.request

assert urllib.request.urlopen(os.environ["SHOP_URL"] + "/buy").read() == b"book"
