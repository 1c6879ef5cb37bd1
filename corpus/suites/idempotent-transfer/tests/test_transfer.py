from accounts.transfer import Accounts


def test_money_is_moved(dynamodb, table):
    accounts = Accounts(dynamodb, table)
    accounts.open("alice", 100)
    accounts.open("bob", 0)
    accounts.transfer(1, "alice", "bob", 30)
    assert accounts.balance("alice") == 70
    assert accounts.balance("bob") == 30
