package murphy.junit;

import java.util.List;
import java.util.Map;

/**
 * The execution that a test runs in. Java cannot change its environment: what other workers set as variables is read from here.
 *
 * @param id the execution, empty without Murphy
 * @param faults what is planned to fail, as text
 * @param headers trace context, for calls that the test makes itself; empty without Murphy
 */
public record MurphyExecution(String id, List<String> faults, Map<String, String> headers) {
    static final MurphyExecution NONE = new MurphyExecution("", List.of(), Map.of());

    /** Where the test enters a service: {@code MURPHY_<SERVICE>_URL}, or what is given if Murphy does not run. */
    public String url(String service, String otherwise) {
        String name = "MURPHY_" + service.toUpperCase(java.util.Locale.ROOT).replaceAll("[^A-Z0-9]", "_") + "_URL";
        String url = System.getenv(name);
        return url == null ? otherwise : url;
    }

    /**
     * Where to call a service that the test has started itself at {@code host:port}: the proxy in front of it, or, without Murphy, the service.
     * It needs {@code started_by = "test"} in murphy.toml. Give the URL to its callers, and call it from the test.
     */
    public static String startedService(String name, String upstream) {
        Control control = Control.fromEnvironment();
        return control == null ? "http://" + upstream : control.startedService(name, upstream);
    }
}
