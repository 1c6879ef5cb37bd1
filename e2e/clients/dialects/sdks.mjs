// Asks S3 and DynamoDB once by the AWS SDK for JavaScript, and writes down what it made of the answer, as sdks.py does.
//   node sdks.mjs URL, with the file to be written in SEEN
import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";

const require = createRequire(`${process.env.MODULES}/`);
const { S3Client, GetObjectCommand, HeadObjectCommand } = require("@aws-sdk/client-s3");
const { DynamoDBClient, ListTablesCommand } = require("@aws-sdk/client-dynamodb");

const options = {
  endpoint: process.argv[2],
  region: "eu-central-1",
  credentials: { accessKeyId: "AKID", secretAccessKey: "nothing" },
  maxAttempts: 3,
  forcePathStyle: true,
};
const s3 = new S3Client(options);
const dynamodb = new DynamoDBClient(options);
const lines = [];

async function ask(call, client, command) {
  let outcome = "ok";
  let metadata;
  try {
    metadata = (await client.send(command)).$metadata;
  } catch (error) {
    outcome = `${error.name} ${error.$metadata?.httpStatusCode}`;
    metadata = error.$metadata;
    if (metadata?.requestId?.startsWith("murphy-")) outcome += " (ours)";
  }
  lines.push(`${call.padEnd(23)} ${outcome}, ${metadata?.attempts} attempts\n`);
}

await ask("js s3 GetObject", s3, new GetObjectCommand({ Bucket: "shop", Key: "tea" }));
await ask("js s3 HeadObject", s3, new HeadObjectCommand({ Bucket: "shop", Key: "tea" }));
await ask("js dynamodb ListTables", dynamodb, new ListTablesCommand({}));
writeFileSync(process.env.SEEN, lines.join(""));
// Its connections keep nobody from ending.
process.exit(0);
