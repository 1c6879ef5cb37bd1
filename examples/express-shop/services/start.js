// What every service does around its own routes: health, port, end.

module.exports = function start(app) {
  app.get("/health", (request, response) => response.send("ok"));
  app.listen(Number(process.env.PORT), "127.0.0.1");
  process.once("SIGTERM", () => process.exit(0));
};
