import { GetObjectCommand, PutObjectCommand } from "@aws-sdk/client-s3";

export class NotesError extends Error {
  name = "NotesError";
}

/** Notes in a bucket. What goes wrong below is the cause of what is thrown here. */
export class Notes {
  constructor(s3, bucket) {
    this.s3 = s3;
    this.bucket = bucket;
  }

  async save(key, text) {
    try {
      await this.s3.send(new PutObjectCommand({ Bucket: this.bucket, Key: key, Body: text }));
    } catch (cause) {
      throw new NotesError(`could not save ${key}`, { cause });
    }
  }

  async read(key) {
    try {
      const answer = await this.s3.send(new GetObjectCommand({ Bucket: this.bucket, Key: key }));
      return await answer.Body.transformToString();
    } catch (cause) {
      throw new NotesError(`could not read ${key}`, { cause });
    }
  }
}
