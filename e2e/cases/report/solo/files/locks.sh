# Only one of its kind can run.
mkdir lock || { echo "Error: locked" >&2; exit 1; }
sleep 1
python3 -c "import os, urllib.request as r; r.urlopen(os.environ['MURPHY_SHOP_URL']).read()"
code=$?
rmdir lock
exit $code
