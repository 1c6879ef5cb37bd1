import { BlobServiceClient } from "@azure/storage-blob";

// Uploads wait for somebody at a keyboard: a few quick tries, then the truth.
const retryOptions = { maxTries: 3, retryDelayInMs: 100, maxRetryDelayInMs: 1000 };

export function connect(connection) {
  return BlobServiceClient.fromConnectionString(connection, { retryOptions });
}
