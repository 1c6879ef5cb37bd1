from storage.documents import read, save


def test_a_saved_document_can_be_read(dynamodb, table):
    save(dynamodb, table, "a", "hello")
    assert read(dynamodb, table, "a") == "hello"


def test_a_document_can_be_replaced(dynamodb, table):
    save(dynamodb, table, "a", "first")
    save(dynamodb, table, "a", "second")
    assert read(dynamodb, table, "a") == "second"
