import pytest

from catalogue.catalogue import Catalogue

KINDS = ["book", "cup", "hat", "key", "lamp", "map", "pen", "rope", "spoon", "tea", "umbrella", "watch"]


@pytest.fixture
def catalogue(s3, bucket):
    return Catalogue(s3, bucket)


@pytest.mark.parametrize("kind", KINDS)
def test_an_article_from_shelf_to_customer(catalogue, kind):
    catalogue.add(kind, "plain", 7)
    assert catalogue.price(kind, "plain") == 7
    assert catalogue.change_price(kind, "plain", 12) == 7
    assert catalogue.digits(kind, "plain") == 2
    assert catalogue.names(kind) == ["plain"]
    catalogue.reserve(kind, "plain", "alice")
    assert catalogue.reserved_for(kind, "plain") == "alice"
    catalogue.remove(kind, "plain")
    assert catalogue.names(kind) == []
