from records.record import Record


def test_changes_add_up(table):
    record = Record(table, "alice").load()
    record.fields["mail"] = "alice@example.org"
    record.save()
    record.fields["phone"] = "4711"
    record.save()
    assert Record(table, "alice").load().fields == {"mail": "alice@example.org", "phone": "4711"}


def test_an_older_version_does_not_overwrite(table):
    Record(table, "bob").save()
    mine, theirs = Record(table, "bob").load(), Record(table, "bob").load()
    theirs.fields["mail"] = "bob@example.org"
    theirs.save()
    mine.fields["mail"] = "bob@example.com"
    assert mine.save() is False
    assert Record(table, "bob").load().fields["mail"] == "bob@example.org"
