// Asks as Node does and prints what it saw: node client.mjs fetch|https|http2 URL SECONDS
import http2 from "node:http2";
import https from "node:https";

const [kind, url, seconds] = process.argv.slice(2);
const signal = AbortSignal.timeout(Number(seconds) * 1000);

function read(status, body) {
  if (status !== 200) return `${status} '${body}'`;
  return JSON.parse(body).price === 3 ? "ok" : `200 ${body}`;
}

async function byFetch() {
  const answer = await fetch(url, { signal });
  return read(answer.status, await answer.text());
}

// Both are streams of the answer's body.
async function text(stream) {
  let body = "";
  for await (const piece of stream.setEncoding("utf8")) body += piece;
  return body;
}

async function byHttps() {
  const answer = await new Promise((resolve, reject) => {
    https.get(url, { signal }, resolve).on("error", reject);
  });
  return read(answer.statusCode, await text(answer));
}

async function byHttp2() {
  const session = http2.connect(url);
  const stream = session.request({ ":path": new URL(url).pathname }, { signal });
  const headers = await new Promise((resolve, reject) => {
    session.on("error", reject);
    stream.on("error", reject);
    stream.on("close", () => reject(Object.assign(new Error(), { code: `closed ${stream.rstCode}` })));
    stream.on("response", resolve);
  });
  return read(headers[":status"], await text(stream));
}

const ask = { fetch: byFetch, https: byHttps, http2: byHttp2 }[kind];
try {
  console.log(await ask());
} catch (error) {
  const cause = error.cause?.code ?? error.code;
  // Where it is a number it says no more than the name.
  console.log(typeof cause === "string" ? `${error.name} ${cause}` : error.name);
}
// Its connections keep nobody from ending.
process.exit(0);
