from concurrent.futures import ThreadPoolExecutor

import pytest

from prices.board import PriceBoard

QUICKLY = 2  # seconds


@pytest.fixture
def background():
    with ThreadPoolExecutor(max_workers=1) as pool:
        yield pool


def test_a_price_is_shown_quickly(s3, bucket, background):
    board = PriceBoard(s3, bucket)
    background.submit(board.show, "tea", 3).result(timeout=QUICKLY)
    assert board.price("tea") == 3


def test_a_price_is_changed_quickly(s3, bucket, background):
    board = PriceBoard(s3, bucket)
    board.show("tea", 3)
    background.submit(board.show, "tea", 4).result(timeout=QUICKLY)
    assert background.submit(board.price, "tea").result(timeout=QUICKLY) == 4
