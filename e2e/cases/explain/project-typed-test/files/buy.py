import sys
import urllib.request

path = "/buy" if len(sys.argv) == 2 else "/items"
with urllib.request.urlopen(sys.argv[1] + path) as answer:
    answer.read()
