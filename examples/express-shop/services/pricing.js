// The pricing: what things cost today, which is the list price less a discount.

const express = require("express");
const getJson = require("./get-json");
const start = require("./start");

const { CATALOGUE_URL } = process.env;
const TIMEOUT_MS = 1000; // less than the shop waits for us
const DISCOUNT_PERCENT = { teapot: 10 };

const app = express();

app.get("/prices", async (request, response) => {
  const list = await getJson(`${CATALOGUE_URL}/prices`, TIMEOUT_MS);
  response.json(Object.fromEntries(Object.entries(list).map(discounted)));
});

function discounted([sku, price]) {
  return [sku, Math.round(price * (1 - (DISCOUNT_PERCENT[sku] ?? 0) / 100))];
}

app.use((error, request, response, next) => {
  console.error(error.message);
  response.status(502).json({ error: error.message });
});

start(app);
