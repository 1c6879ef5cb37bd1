import urllib.error
import urllib.request


def get(url):
    try:
        with urllib.request.urlopen(url, timeout=10) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        error.read()
        return error.code


def test_needs_the_cart(shop):
    assert get(shop + "/cart") == 200


def test_does_without_the_cart(shop):
    assert get(shop + "/soft") == 200
