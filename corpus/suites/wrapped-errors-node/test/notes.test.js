import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { CreateBucketCommand, S3Client } from "@aws-sdk/client-s3";
import { Notes } from "../lib/notes.js";

// A local emulator unless somebody says otherwise.
const s3 = new S3Client({
  endpoint: process.env.AWS_ENDPOINT_URL ?? "http://127.0.0.1:5000",
  region: process.env.AWS_REGION ?? "us-east-1",
  credentials: { accessKeyId: "testing", secretAccessKey: "testing" },
  forcePathStyle: true,
});

describe("notes", () => {
  let notes;
  beforeEach(async () => {
    const bucket = `notes-${randomUUID()}`;
    await s3.send(new CreateBucketCommand({ Bucket: bucket }));
    notes = new Notes(s3, bucket);
  });

  it("are read as they were saved", async () => {
    await notes.save("monday", "buy milk");
    assert.equal(await notes.read("monday"), "buy milk");
  });

  it("can be changed", async () => {
    await notes.save("monday", "buy milk");
    await notes.save("monday", "buy bread");
    assert.equal(await notes.read("monday"), "buy bread");
  });
});
