import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { CreateBucketCommand, S3Client } from "@aws-sdk/client-s3";
import { Store } from "../lib/store.js";

// A local emulator unless somebody says otherwise.
const s3 = new S3Client({
  endpoint: process.env.AWS_ENDPOINT_URL ?? "http://127.0.0.1:5000",
  region: process.env.AWS_REGION ?? "us-east-1",
  credentials: { accessKeyId: "testing", secretAccessKey: "testing" },
  forcePathStyle: true,
});

describe("the store", () => {
  let store;
  beforeEach(async () => {
    const bucket = `documents-${randomUUID()}`;
    await s3.send(new CreateBucketCommand({ Bucket: bucket }));
    store = new Store(s3, bucket);
  });

  it("reads what was written", async () => {
    await store.write("a.txt", "hello");
    assert.equal(await store.read("a.txt"), "hello");
  });

  it("knows about a document", async () => {
    await store.write("a.txt", "hello", { author: "alice" });
    assert.deepEqual(await store.metadata("a.txt"), { author: "alice" });
  });

  it("says that a document is not there", async () => {
    await assert.rejects(store.metadata("b.txt"), (error) => error.status === 404);
  });
});
