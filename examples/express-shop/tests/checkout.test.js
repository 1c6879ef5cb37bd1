// A customer checks out. The shop to test is at SHOP_URL.

const assert = require("node:assert/strict");
const { test } = require("node:test");

const { SHOP_URL } = process.env;
const DISCOUNTED = 2880 + 4 * 450;
const LIST = 3200 + 4 * 450;

test("checkout places the whole order or says why not", async () => {
  const response = await fetch(`${SHOP_URL}/checkout`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ customer: "ada" }),
  });
  const answer = await response.json();

  if (response.status === 502) {
    assert.match(answer.error, /nothing was ordered/);
    return;
  }

  assert.equal(response.status, 201);
  assert.equal(answer.status, "placed");
  assert.deepEqual(answer.items.map(({ sku }) => sku), ["teapot", "cup"]);
  assert.ok([DISCOUNTED, LIST].includes(answer.total), `placed for a total of ${answer.total}`);
});
