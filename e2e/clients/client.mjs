// Asks as Node does, by fetch and by node:https. node client.mjs URL
import https from "node:https";

const url = process.argv[2];
const fetched = await fetch(url);
if (!fetched.ok) throw new Error(`fetch: ${fetched.status}`);
https.get(url, (answer) => {
  answer.resume();
  if (answer.statusCode !== 200) throw new Error(`https: ${answer.statusCode}`);
});
