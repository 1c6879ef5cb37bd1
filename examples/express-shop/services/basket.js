// The basket: what each customer is about to buy.

const express = require("express");
const start = require("./start");

const BASKETS = {
  ada: [
    { sku: "teapot", quantity: 1 },
    { sku: "cup", quantity: 4 },
  ],
  grace: [{ sku: "cup", quantity: 2 }],
};

const app = express();

app.get("/baskets/:customer", (request, response) => {
  const items = BASKETS[request.params.customer];
  if (!items) return response.sendStatus(404);
  response.json({ items });
});

start(app);
