// A shop that asks for a price by https: node stranger.mjs PORT URL_OF_PRICES
import { createServer } from "node:http";
import { get } from "node:https";

const [port, prices] = process.argv.slice(2);

createServer((request, response) => {
  const asked = get(`${prices}/tea`, { agent: false }, (price) => {
    response.writeHead(200);
    price.pipe(response);
  });
  asked.on("error", (error) => {
    response.writeHead(500);
    response.end(`no price: ${error.message}`);
  });
}).listen(Number(port), "127.0.0.1");
