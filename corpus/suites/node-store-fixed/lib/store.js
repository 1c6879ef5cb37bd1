import { GetObjectCommand, HeadObjectCommand, PutObjectCommand } from "@aws-sdk/client-s3";

/** Documents with a few words about each, in a bucket. */
export class Store {
  constructor(s3, bucket) {
    this.s3 = s3;
    this.bucket = bucket;
  }

  async write(key, text, about = {}) {
    await this.s3.send(new PutObjectCommand({ Bucket: this.bucket, Key: key, Body: text, Metadata: about }));
  }

  async read(key) {
    const answer = await this.s3.send(new GetObjectCommand({ Bucket: this.bucket, Key: key }));
    return answer.Body.transformToString();
  }

  async metadata(key) {
    try {
      const answer = await this.s3.send(new HeadObjectCommand({ Bucket: this.bucket, Key: key }));
      return answer.Metadata;
    } catch (error) {
      if (error.name !== "NotFound") throw error;
      throw { status: 404, reason: `${key} not found` };
    }
  }
}
