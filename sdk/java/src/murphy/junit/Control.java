package murphy.junit;

import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The conversation with Murphy: docs/guide/worker-protocol.md. */
final class Control {
    /** Murphy answers a long poll after 20 s at the latest. */
    private static final Duration ANSWER_TIMEOUT = Duration.ofSeconds(60);

    /** Murphy ended, or does not talk to this worker any more. */
    static final class Gone extends RuntimeException {
        private static final long serialVersionUID = 1;

        Gone(String reason) {
            super(reason);
        }
    }

    private final String url;
    private final String token;
    private final String worker;
    /** Made when it is needed: JUnit constructs its listeners for every run. */
    private HttpClient client;

    private Control(String url, String token, String worker) {
        this.url = url.replaceAll("/$", "");
        this.token = token;
        this.worker = "?worker=" + worker;
    }

    /** Null where Murphy did not start this process. */
    static Control fromEnvironment() {
        String url = System.getenv("MURPHY_CONTROL_URL");
        String token = System.getenv("MURPHY_TOKEN");
        String worker = System.getenv("MURPHY_WORKER");
        return url == null || token == null || worker == null ? null : new Control(url, token, worker);
    }

    /** What to do next, or null if there is nothing yet. */
    @SuppressWarnings("unchecked")
    Map<String, Object> next() {
        HttpResponse<String> answer = ask("GET", "/v1/worker/next" + worker, null);
        return answer.body().isEmpty() ? null : (Map<String, Object>) Json.read(answer.body());
    }

    void tests(Map<String, Object> body) {
        ask("POST", "/v1/worker/tests" + worker, body, 404, 409); // given up meanwhile
    }

    /** A result of an execution that was given up meanwhile is dropped. */
    void result(Map<String, Object> body) {
        if (ask("POST", "/v1/worker/result" + worker, body, 404, 409, 413).statusCode() == 413) {
            Map<String, Object> shorter = new LinkedHashMap<>(body);
            String output = String.valueOf(body.get("output"));
            shorter.put("output", output.substring(Math.max(0, output.length() - 1024)));
            List<?> exceptions = (List<?>) body.get("exceptions");
            shorter.put("exceptions", exceptions.subList(0, Math.min(1, exceptions.size())));
            ask("POST", "/v1/worker/result" + worker, shorter, 404, 409);
        }
    }

    void phase(String execution, String name) {
        ask("PUT", "/v1/executions/" + URLEncoder.encode(execution, StandardCharsets.UTF_8) + "/phase", Map.of("name", name), 404, 409);
    }

    /** The URL of the proxy in front of a service that a test has started. */
    String startedService(String name, String upstream) {
        HttpResponse<String> answer = ask("POST", "/v1/services", Map.of("name", name, "upstream", upstream), 400, 404, 409);
        Map<?, ?> body = (Map<?, ?>) Json.read(answer.body());
        if (answer.statusCode() != 200) {
            throw new IllegalStateException(String.valueOf(body.get("error")));
        }
        return (String) body.get("url");
    }

    private HttpResponse<String> ask(String method, String path, Map<String, Object> body, Integer... tolerated) {
        var content = body == null ? HttpRequest.BodyPublishers.noBody() : HttpRequest.BodyPublishers.ofString(Json.write(body));
        HttpRequest request = HttpRequest.newBuilder(URI.create(url + path))
                .timeout(ANSWER_TIMEOUT)
                .header("Authorization", "Bearer " + token)
                .header("Content-Type", "application/json")
                .method(method, content)
                .build();
        HttpResponse<String> answer = send(request);
        int status = answer.statusCode();
        if (status == 401) {
            throw new Gone("Murphy does not accept MURPHY_TOKEN");
        }
        if (status >= 400 && !List.of(tolerated).contains(status)) {
            throw new Gone(status + " " + answer.body().strip());
        }
        return answer;
    }

    private HttpResponse<String> send(HttpRequest request) {
        try {
            if (client == null) {
                client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
            }
            return client.send(request, HttpResponse.BodyHandlers.ofString());
        } catch (IOException error) {
            throw new Gone("Murphy is gone (" + error + ")");
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new Gone("interrupted");
        }
    }
}
