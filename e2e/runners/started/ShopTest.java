import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import murphy.junit.MurphyExecution;
import murphy.junit.MurphyTest;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** Starts its services itself, as a project does with Testcontainers. */
class ShopTest {
    private static final List<Process> STARTED = new ArrayList<>();
    private static String shop;

    @BeforeAll
    static void start() throws IOException {
        String cart = MurphyExecution.startedService("cart", service("cart"));
        shop = MurphyExecution.startedService("shop", service("shop", cart));
    }

    @AfterAll
    static void stop() {
        STARTED.forEach(Process::destroyForcibly);
    }

    private static String service(String... words) throws IOException {
        List<String> command = new ArrayList<>(List.of("python3", "service.py"));
        command.addAll(List.of(words));
        Process process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        STARTED.add(process);
        return "127.0.0.1:" + new BufferedReader(new InputStreamReader(process.getInputStream())).readLine();
    }

    private static int get(String path) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create(shop + path)).build();
        return HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString()).statusCode();
    }

    @MurphyTest
    void needsTheCart() throws Exception {
        assertEquals(200, get("/cart"));
    }

    @MurphyTest
    void doesWithoutTheCart() throws Exception {
        assertEquals(200, get("/soft"));
    }
}
