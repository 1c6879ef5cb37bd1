import { randomUUID } from "node:crypto";
import { SendMessageCommand } from "@aws-sdk/client-sqs";

/** Puts jobs on a queue, for workers that run them: first in, first out, and each of them once. */
export class JobSender {
  constructor(sqs, queueUrl) {
    this.sqs = sqs;
    this.queueUrl = queueUrl;
  }

  async send(kind, details) {
    const job = {
      QueueUrl: this.queueUrl,
      MessageBody: JSON.stringify({ kind, ...details }),
      MessageGroupId: kind,
      MessageDeduplicationId: randomUUID(),
    };
    await this.sqs.send(new SendMessageCommand(job));
  }
}
