// Prices over HTTPS, in HTTP/1.1 or HTTP/2 as the client likes: node prices.mjs PORT
import { readFileSync } from "node:fs";
import http2 from "node:http2";

const certs = "../../systems/https/certs";
const server = http2.createSecureServer({
  allowHTTP1: true,
  cert: readFileSync(`${certs}/prices.pem`),
  key: readFileSync(`${certs}/prices.key`),
});
server.on("request", (_, answer) => {
  const body = '{"price": 3}';
  answer.writeHead(200, { "content-type": "application/json", "content-length": body.length });
  answer.end(body);
});
// Who only looks whether it is up.
server.on("sessionError", () => {});
server.on("tlsClientError", () => {});
server.listen(Number(process.argv[2]), "127.0.0.1");
