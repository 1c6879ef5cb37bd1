import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { Attachments } from "../lib/attachments.js";
import { connect } from "../lib/service.js";

const service = connect(process.env.AZURE_STORAGE_CONNECTION_STRING ?? "UseDevelopmentStorage=true");

describe("attachments", () => {
  let mailbox;
  beforeEach(() => {
    mailbox = `mailbox-${randomUUID()}`;
  });
  afterEach(() => service.getContainerClient(mailbox).deleteIfExists());

  it("are stored in a new mailbox", async () => {
    const attachments = new Attachments(service, mailbox);
    await attachments.upload("note.txt", "hello");
    assert.equal(await attachments.download("note.txt"), "hello");
  });

  it("can be replaced", async () => {
    await service.createContainer(mailbox);
    const attachments = new Attachments(service, mailbox);
    await attachments.upload("note.txt", "first");
    await attachments.upload("note.txt", "second");
    assert.equal(await attachments.download("note.txt"), "second");
  });
});
