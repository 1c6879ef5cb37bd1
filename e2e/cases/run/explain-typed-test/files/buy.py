import sys
import urllib.request

with urllib.request.urlopen(sys.argv[1] + "/buy") as answer:
    answer.read()
