import { SendMessageCommand } from "@aws-sdk/client-sqs";

/** Puts jobs on a queue, for workers that run them. */
export class JobSender {
  constructor(sqs, queueUrl) {
    this.sqs = sqs;
    this.queueUrl = queueUrl;
  }

  async send(kind, details) {
    const body = JSON.stringify({ kind, ...details });
    await this.sqs.send(new SendMessageCommand({ QueueUrl: this.queueUrl, MessageBody: body }));
  }
}
