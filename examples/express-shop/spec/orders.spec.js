// What customers get for what is in their baskets. The shop to test is at SHOP_URL.

const assert = require("node:assert/strict");

const { SHOP_URL } = process.env;

async function checkout(customer) {
  const response = await fetch(`${SHOP_URL}/checkout`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ customer }),
  });
  const order = await response.json();
  return { status: response.status, order, isRefused: response.status === 502 && /nothing was ordered/.test(order.error) };
}

describe("an order", () => {
  // Asked once for all tests of this suite.
  before(async () => assert.ok((await fetch(`${SHOP_URL}/health`)).ok));

  // At today's prices; at list prices while today's cannot be had.
  for (const [customer, totals] of [["ada", [4680, 5000]], ["grace", [900]]]) {
    it(`of ${customer} costs what is in the basket`, async () => {
      const { status, order, isRefused } = await checkout(customer);
      if (isRefused) return;
      assert.equal(status, 201);
      assert.ok(totals.includes(order.total), `placed for a total of ${order.total}`);
    });
  }

  it("lists what is in the basket", async () => {
    const { order, isRefused } = await checkout("grace");
    if (!isRefused) assert.deepEqual(order.items, [{ sku: "cup", quantity: 2 }]);
  });

  it("of an unknown customer is refused", async () => {
    assert.ok((await checkout("nobody")).isRefused);
  });
});

describe("the shop", () => {
  it("is up", async () => assert.ok((await fetch(`${SHOP_URL}/health`)).ok));
});
