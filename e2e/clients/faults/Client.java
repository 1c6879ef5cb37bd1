import java.net.ProxySelector;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;

/** Asks as Java does and prints what it saw: java Client HTTP_1_1|HTTP_2 URL SECONDS */
class Client {
    public static void main(String[] arguments) {
        System.out.println(seen(arguments));
        System.exit(0);
    }

    private static String seen(String[] arguments) {
        HttpClient client = HttpClient.newBuilder()
            .version(HttpClient.Version.valueOf(arguments[0]))
            .proxy(ProxySelector.getDefault())
            .build();
        HttpRequest request = HttpRequest.newBuilder(URI.create(arguments[1]))
            .timeout(Duration.ofMillis((long) (1000 * Double.parseDouble(arguments[2]))))
            .build();
        try {
            var answer = client.send(request, BodyHandlers.ofString());
            return answer.body().equals("{\"price\": 3}") ? "ok" : answer.statusCode() + " '" + answer.body() + "'";
        } catch (Exception error) {
            Throwable cause = error;
            while (cause.getCause() != null) {
                cause = cause.getCause();
            }
            String name = error.getClass().getSimpleName();
            return cause == error ? name : name + " of " + cause.getClass().getSimpleName();
        }
    }
}
