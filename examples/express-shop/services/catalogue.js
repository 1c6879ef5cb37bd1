// The catalogue: what things cost on an ordinary day, in cents.

const express = require("express");
const start = require("./start");

const LIST_PRICES = { teapot: 3200, cup: 450, tray: 1500 };

const app = express();

app.get("/prices", (request, response) => response.json(LIST_PRICES));

start(app);
