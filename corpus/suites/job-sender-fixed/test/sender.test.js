import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { CreateQueueCommand, DeleteQueueCommand, ReceiveMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import { JobSender } from "../lib/sender.js";

// A local emulator unless somebody says otherwise.
const sqs = new SQSClient({
  endpoint: process.env.AWS_ENDPOINT_URL ?? "http://127.0.0.1:5000",
  region: process.env.AWS_REGION ?? "us-east-1",
  credentials: { accessKeyId: "testing", secretAccessKey: "testing" },
});

describe("the job sender", () => {
  let queue;
  beforeEach(async () => {
    const fifo = { QueueName: `jobs-${randomUUID()}.fifo`, Attributes: { FifoQueue: "true" } };
    queue = (await sqs.send(new CreateQueueCommand(fifo))).QueueUrl;
  });
  afterEach(() => sqs.send(new DeleteQueueCommand({ QueueUrl: queue })));

  const receive = async () => {
    const { Messages } = await sqs.send(new ReceiveMessageCommand({ QueueUrl: queue }));
    return JSON.parse(Messages[0].Body);
  };

  it("sends a job", async () => {
    await new JobSender(sqs, queue).send("invoice", { customer: 4711 });
    assert.deepEqual(await receive(), { kind: "invoice", customer: 4711 });
  });

  it("sends a job without details", async () => {
    await new JobSender(sqs, queue).send("cleanup");
    assert.deepEqual(await receive(), { kind: "cleanup" });
  });
});
