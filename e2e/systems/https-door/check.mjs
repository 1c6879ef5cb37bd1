// Asks as Node does, for a price and for the stock. node check.mjs URL
const url = process.argv[2];
for (const path of ["/price", "/stock"]) {
  try {
    const answer = await fetch(url + path);
    await answer.text();
  } catch (error) {
    console.error(`${path}: ${error.cause?.message?.split(".")[0]}`);
    process.exit(1);
  }
}
