import java.net.HttpURLConnection;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;

/** Asks as Java does, by its client and by its older one: java Client.java URL */
class Client {
    public static void main(String[] arguments) throws Exception {
        URI uri = URI.create(arguments[0]);
        HttpClient client = HttpClient.newBuilder()
            .proxy(java.net.ProxySelector.getDefault())
            .build();
        int status = client.send(HttpRequest.newBuilder(uri).build(), BodyHandlers.ofString()).statusCode();
        int older = ((HttpURLConnection) uri.toURL().openConnection()).getResponseCode();
        if (status != 200 || older != 200) {
            throw new IllegalStateException(status + " and " + older);
        }
        // The older client's connections keep nobody from ending.
        System.exit(0);
    }
}
