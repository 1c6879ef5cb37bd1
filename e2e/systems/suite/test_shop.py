import os
import unittest
import urllib.request


def get(path):
    headers = {"traceparent": os.environ["TRACEPARENT"], "tracestate": os.environ["TRACESTATE"]} if "TRACESTATE" in os.environ else {}
    request = urllib.request.Request(os.environ["SHOP"] + path, headers=headers)
    with urllib.request.urlopen(request, timeout=10) as answer:
        return answer.status


class Shop(unittest.TestCase):
    def test_cart(self):
        self.assertEqual(get("/cart"), 200)

    def test_nothing(self):
        self.assertEqual(1 + 1, 2)
