import sys, urllib.request, urllib.error
try:
    urllib.request.urlopen(sys.argv[1] + "/").read()
except urllib.error.HTTPError as error:
    sys.exit(f"the shop answered {error.code}")
