const cart = process.env.CART_URL ?? "http://localhost:5001";
