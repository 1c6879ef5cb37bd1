// The same shop on Node: node shop.mjs PORT URL_OF_PRICES.
import { createServer } from "node:http";

const [port, prices] = process.argv.slice(2);

const server = createServer(async (_, answer) => {
  try {
    const asked = await fetch(`${prices}/prices/tea`, { signal: AbortSignal.timeout(5000) });
    if (!asked.ok) throw new Error(`prices said ${asked.status}`);
    answer.end(await asked.text());
  } catch (error) {
    answer.writeHead(500).end(String(error.cause ?? error));
  }
});
server.listen(Number(port), "127.0.0.1");
