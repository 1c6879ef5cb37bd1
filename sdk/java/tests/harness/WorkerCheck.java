package harness;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import murphy.junit.Json;

/**
 * Drives a real JUnit over the classes in {@code shop}, as Murphy does. Murphy's side of the protocol is a small double; nothing else is. It stands
 * outside of JUnit, since what it tests is a JUnit process as a whole.
 */
@SuppressWarnings("unchecked")
public final class WorkerCheck {
    private static final String TOKEN = "secret-of-this-run";
    private static final String CHECKOUT = "shop.CheckoutTest#";

    private final BlockingQueue<Map<String, Object>> orders = new LinkedBlockingQueue<>();
    private final BlockingQueue<Map<String, Object>> answers = new LinkedBlockingQueue<>();
    private final Map<String, List<String>> phases = new ConcurrentHashMap<>();
    private final Map<String, Integer> refused = new ConcurrentHashMap<>();
    private final HttpServer server;
    private final Process worker;
    private final Path printed;
    private int number;

    private WorkerCheck(String token) throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(Executors.newCachedThreadPool(runnable -> {
            Thread thread = new Thread(runnable);
            thread.setDaemon(true);
            return thread;
        }));
        server.createContext("/", this::handle);
        server.start();
        printed = Files.createTempFile("murphy-junit", ".txt");
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        ProcessBuilder builder = new ProcessBuilder(java, "-Xmx64m", "-cp", System.getProperty("java.class.path"),
                "org.junit.platform.console.ConsoleLauncher", "--disable-banner", "--select-package", "shop");
        builder.environment().put("MURPHY_CONTROL_URL", "http://127.0.0.1:" + server.getAddress().getPort());
        builder.environment().put("MURPHY_WORKER", "0");
        builder.environment().put("MURPHY_CART_URL", "http://cart");
        if (token != null) {
            builder.environment().put("MURPHY_TOKEN", token);
        }
        worker = builder.redirectErrorStream(true).redirectOutput(printed.toFile()).start();
    }

    private void handle(HttpExchange exchange) throws IOException {
        try (exchange) {
            String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
            String route = exchange.getRequestMethod() + " " + exchange.getRequestURI();
            if (!("Bearer " + TOKEN).equals(exchange.getRequestHeaders().getFirst("Authorization"))) {
                say(exchange, 401, "");
            } else if (route.equals("GET /v1/worker/next?worker=0")) {
                Map<String, Object> order = orders.poll(200, TimeUnit.MILLISECONDS);
                say(exchange, order == null ? 204 : 200, order == null ? "" : Json.write(order));
            } else if (route.equals("POST /v1/worker/tests?worker=0") || route.equals("POST /v1/worker/result?worker=0")) {
                Map<String, Object> content = (Map<String, Object>) Json.read(body);
                Integer status = refused.remove(String.valueOf(content.get("execution")));
                if (status == null) {
                    answers.add(content);
                }
                say(exchange, status == null ? 204 : status, "");
            } else if (route.matches("PUT /v1/executions/\\w+/phase")) {
                String name = (String) ((Map<String, Object>) Json.read(body)).get("name");
                phases.computeIfAbsent(route.split("/")[3], id -> new CopyOnWriteArrayList<>()).add(name);
                say(exchange, 200, "{\"in_flight\":0,\"armed\":false}");
            } else {
                say(exchange, 404, "{\"error\":\"" + route + "\"}");
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private static void say(HttpExchange exchange, int status, String text) throws IOException {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        exchange.sendResponseHeaders(status, bytes.length == 0 ? -1 : bytes.length);
        exchange.getResponseBody().write(bytes);
    }

    private Map<String, Object> answer() throws Exception {
        for (int waited = 0; waited < 600; waited++) {
            Map<String, Object> answer = answers.poll(100, TimeUnit.MILLISECONDS);
            if (answer != null) {
                return answer;
            }
            check("the worker is alive: " + output(), worker.isAlive());
        }
        throw new AssertionError("no answer in 60 s: " + output());
    }

    private Map<String, Object> run(String test, Map<String, Object> more) throws Exception {
        order(test, more);
        return answer();
    }

    private Map<String, Object> run(String test) throws Exception {
        return run(test, Map.of());
    }

    private void order(String test, Map<String, Object> more) {
        Map<String, Object> order = new java.util.LinkedHashMap<>(Map.of("do", "run", "execution", "e" + ++number, "test", test, "phases", List.of("call"),
                "faults", List.of(), "timeout_ms", 60000, "unknown", Map.of("a", List.of(1, 2.5, true))));
        order.putAll(more);
        orders.add(order);
    }

    private String output() throws IOException {
        String all = Files.readString(printed);
        return all.substring(Math.max(0, all.length() - 20_000));
    }

    private int end() throws Exception {
        boolean over = worker.waitFor(30, TimeUnit.SECONDS);
        worker.destroyForcibly();
        server.stop(0);
        return over ? worker.exitValue() : -1;
    }

    private static int checks;

    private static void check(String what, boolean holds) {
        checks++;
        if (!holds) {
            throw new AssertionError(what);
        }
    }

    private static void same(Object expected, Object seen) {
        checks++;
        if (!expected.equals(seen)) {
            throw new AssertionError("expected " + expected + ", got " + seen);
        }
    }

    private static List<Object> outcome(Map<String, Object> result) {
        return List.of(result.get("outcome"), result.get("phase"), result.get("message"));
    }

    public static void main(String[] args) throws Exception {
        listsAndRuns();
        says();
        staysWarm();
        gives();
        isFlat();
        isAlone();
        System.out.println(checks + " checks passed");
    }

    private static void listsAndRuns() throws Exception {
        WorkerCheck murphy = new WorkerCheck(TOKEN);
        murphy.orders.add(Map.of("do", "list", "unknown", 1));
        Map<String, Object> listing = murphy.answer();
        check("runner", String.valueOf(listing.get("runner")).startsWith("JUnit 5"));
        List<String> ids = new ArrayList<>();
        for (Object test : (List<Object>) listing.get("tests")) {
            ids.add((String) ((Map<String, Object>) test).get("id"));
        }
        check("listed: " + ids, ids.contains(CHECKOUT + "counts") && ids.contains("shop.BrokenTest#counts") && !ids.contains(CHECKOUT + "isNotMurphys"));
        same(List.of("error", "setup", "no test `nobody` was found"), outcome(murphy.run("nobody")));
        same("passed", murphy.run(CHECKOUT + "counts").get("outcome"));
        murphy.orders.add(Map.of("do", "stop"));
        same(1, murphy.end()); // the exit code is JUnit's, and a class could not be set up in its own pass
        check("ordinary tests run once, in the build tool's own pass", murphy.output().contains("an ordinary test"));
    }

    private static void says() throws Exception {
        WorkerCheck murphy = new WorkerCheck(TOKEN);
        for (int run = 0; run < 2; run++) {
            Map<String, Object> failed = murphy.run(CHECKOUT + "fails");
            same(List.of("failed", "call", "java.lang.IllegalStateException: no cart"), outcome(failed));
            same(List.of(Map.of("type", "java.lang.IllegalStateException", "message", "no cart\nsecond line"),
                    Map.of("type", "java.io.IOException", "message", "refused")), failed.get("exceptions"));
            String output = (String) failed.get("output");
            check(output, output.contains("to stderr") && output.contains("CheckoutTest.fails("));
            same(List.of("setup", "call", "teardown"), murphy.phases.get("e" + murphy.number));
            same("expected: <200> but was: <503>", murphy.run(CHECKOUT + "asserts").get("message"));
            same(List.of("skipped", "call", "Assumption failed: no database"), outcome(murphy.run(CHECKOUT + "skips")));
            same(List.of("error", "setup", "java.lang.IllegalStateException: cannot set up"), outcome(murphy.run(CHECKOUT + "cannotBeSetUp")));
            same(List.of("setup", "teardown"), murphy.phases.get("e" + murphy.number));
            same(List.of("error", "teardown", "java.lang.IllegalStateException: cannot tear down"), outcome(murphy.run(CHECKOUT + "cannotBeTornDown")));
        }
        same(List.of("error", "setup", "java.lang.IllegalStateException: not yet"), outcome(murphy.run("shop.BrokenTest#counts")));
        same("passed", murphy.run("shop.BrokenTest#counts").get("outcome"));
        for (int run = 0; run < 2; run++) {
            same(List.of("system properties: shop.changed", "threads: 2"), murphy.run(CHECKOUT + "changes").get("changed"));
            same(List.of(), murphy.run(CHECKOUT + "counts").get("changed"));
        }
        murphy.order(CHECKOUT + "ends", Map.of());
        same(7, murphy.end());
    }

    private static void staysWarm() throws Exception {
        WorkerCheck murphy = new WorkerCheck(TOKEN);
        Map<String, Object> result = null;
        for (int run = 1; run <= 5; run++) {
            result = murphy.run(CHECKOUT + "counts");
            String output = (String) result.get("output");
            // The build tool's own pass has set the class up once, for its ordinary test; the instance is a new one each time.
            check(output, output.matches("(?s)all 2 each " + (run + 1) + " ended 1 number 1\\s*"));
        }
        same(List.of("openShop (class)", "closeShop (class)"), result.get("shares"));
        for (int run = 1; run <= 2; run++) {
            String output = (String) murphy.run(CHECKOUT + "counts", Map.of("fresh_fixtures", true)).get("output");
            check(output, output.contains("all " + (run + 1) + " ") && output.contains("ended " + run + " "));
        }
        murphy.orders.add(Map.of("do", "stop"));
        same(1, murphy.end());
    }

    private static void gives() throws Exception {
        WorkerCheck murphy = new WorkerCheck(TOKEN);
        Map<String, Object> more = Map.of("faults", List.of("cart = 503"), "headers", Map.of("traceparent", "00-1-2-01"));
        check("", ((String) murphy.run(CHECKOUT + "reads", more).get("output")).contains("READS e1 [cart = 503] {traceparent=00-1-2-01} http://cart"));
        murphy.refused.put("e2", 409);
        murphy.order(CHECKOUT + "counts", Map.of());
        same("e3", murphy.run(CHECKOUT + "counts").get("execution"));
        murphy.server.stop(0);
        check("it ends", murphy.end() != -1);
        check(murphy.output(), murphy.output().contains("murphy: Murphy is gone ("));
    }

    private static void isFlat() throws Exception {
        WorkerCheck murphy = new WorkerCheck(TOKEN);
        for (int run = 0; run < 2; run++) {
            String output = (String) murphy.run(CHECKOUT + "prints").get("output");
            check("the end of 100 MB", output.getBytes(StandardCharsets.UTF_8).length <= 64 * 1024 && output.endsWith("the end\n"));
        }
        for (int run = 0; run < 100; run++) {
            murphy.run(CHECKOUT + "counts");
        }
        int threads = threads(murphy.worker);
        long begun = System.nanoTime();
        for (int run = 0; run < 200; run++) {
            murphy.run(CHECKOUT + "counts");
        }
        System.out.printf("%.1f ms for each of 200 executions%n", (System.nanoTime() - begun) / 200e6);
        check("threads", threads(murphy.worker) <= threads + 2);
        murphy.orders.add(Map.of("do", "stop"));
        same(1, murphy.end());
    }

    private static int threads(Process process) {
        return Path.of("/proc", String.valueOf(process.pid()), "task").toFile().list().length;
    }

    private static void isAlone() throws Exception {
        WorkerCheck refused = new WorkerCheck("another");
        refused.end();
        check(refused.output(), refused.output().contains("murphy: Murphy does not accept MURPHY_TOKEN"));
        WorkerCheck without = new WorkerCheck(null);
        same(1, without.end()); // some of the tests are meant to fail
        check(without.output(), without.output().contains("READS  [] {} http://cart"));
    }
}
