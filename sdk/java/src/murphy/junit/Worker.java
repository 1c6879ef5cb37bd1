package murphy.junit;

import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.platform.commons.support.AnnotationSupport;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/**
 * Turns a JUnit run that Murphy started into a worker. JUnit finds it by the service loader: the build tool's own pass over the tests says which
 * there are, and when it is over, this runs one test per execution, until Murphy says stop. As long as Murphy asks for the same test its class
 * stays set up ({@code @BeforeAll} ran once). Without MURPHY_CONTROL_URL, MURPHY_TOKEN and MURPHY_WORKER it does nothing.
 */
public final class Worker implements TestExecutionListener {
    private static final int OUTPUT_LIMIT = 64 * 1024;
    private static final int MESSAGE_LIMIT = 4 * 1024;
    private static final int CHAIN_LIMIT = 32;
    /** Threads that are about to end get this long before they count as left behind. */
    private static final long THREAD_GRACE_MS = 100;

    private static Worker current;

    private final Map<String, Test> tests = new LinkedHashMap<>();
    private final Control control;
    private boolean serving;
    /** An order that is not for the test that is set up. */
    private Map<String, Object> pending;
    private Run running;

    private record Test(String uniqueId, String file) {}

    /** Called by JUnit's service loader. */
    public Worker() {
        control = Control.fromEnvironment();
    }

    static Worker current() {
        return current;
    }

    boolean isServing() {
        return serving;
    }

    // ---- the build tool's own pass ----

    @Override
    public void testPlanExecutionStarted(TestPlan plan) {
        if (control == null || current != null) {
            return; // no worker; or a plan that the worker itself runs
        }
        current = this;
        for (TestIdentifier root : plan.getRoots()) {
            for (TestIdentifier test : plan.getDescendants(root)) {
                test.getSource().filter(MethodSource.class::isInstance).map(MethodSource.class::cast).ifPresent(source -> add(test, source));
            }
        }
    }

    private void add(TestIdentifier test, MethodSource source) {
        if (AnnotationSupport.isAnnotated(source.getJavaMethod(), MurphyTest.class)) {
            String file = source.getClassName().replaceAll("\\$.*", "").replace('.', '/') + ".java";
            String id = source.getClassName() + "#" + source.getMethodName();
            // Overloads, which are rare, are distinguished by their parameters.
            tests.put(tests.containsKey(id) ? id + "(" + source.getMethodParameterTypes() + ")" : id, new Test(test.getUniqueId(), file));
        }
    }

    @Override
    public void testPlanExecutionFinished(TestPlan plan) {
        if (current != this || serving) {
            return;
        }
        serving = true;
        try {
            serve();
        } catch (Control.Gone gone) {
            System.err.println("murphy: " + gone.getMessage() + ": ending the tests");
        } finally {
            current = null;
        }
    }

    // ---- the loop ----

    private void serve() {
        while (true) {
            Map<String, Object> order = nextOrder();
            switch (String.valueOf(order.get("do"))) {
                case "stop" -> {
                    return;
                }
                case "list" -> {
                    control.tests(listing());
                    pending = null;
                }
                case "run" -> runAll(order);
                default -> throw new Control.Gone("Murphy asks for `" + order.get("do") + "`, which this worker does not know");
            }
        }
    }

    /** The order at hand; it stays there until somebody has done it. */
    private Map<String, Object> nextOrder() {
        while (pending == null) {
            pending = control.next();
            if (pending != null && "run".equals(pending.get("do"))) {
                // Before the class of an earlier test is torn down, which nothing shall be injected into.
                control.phase(String.valueOf(pending.get("execution")), "setup");
            }
        }
        return pending;
    }

    private Map<String, Object> listing() {
        List<Object> listed = new ArrayList<>();
        tests.forEach((id, test) -> {
            Map<String, Object> entry = new LinkedHashMap<>();
            entry.put("id", id);
            entry.put("file", test.file());
            entry.put("line", null);
            entry.put("skip", null);
            listed.add(entry);
        });
        return Map.of("runner", "JUnit " + junitVersion(), "tests", listed, "problems", List.of());
    }

    private static String junitVersion() {
        String version = org.junit.jupiter.api.Test.class.getPackage().getImplementationVersion();
        return version == null ? "5" : version;
    }

    /** Runs the test of this order, and again as long as the next order is for it. */
    private void runAll(Map<String, Object> order) {
        Test test = tests.get(order.get("test"));
        if (test == null) {
            pending = null;
            control.result(new Run(order).report("error", "setup", "no test `" + order.get("test") + "` was found", null));
            return;
        }
        var request = LauncherDiscoveryRequestBuilder.request().selectors(DiscoverySelectors.selectUniqueId(test.uniqueId())).build();
        LauncherFactory.create().execute(request, new Results());
        if (pending == order) {
            pending = null; // never came to be run
            control.result(new Run(order).report("error", "setup", "JUnit did not run it", null));
        }
    }

    /** The executions of one test, as they are asked for; ends at the first order that is for something else. */
    Iterator<Run> ordersFor(String uniqueId, List<String> shares) {
        return new Iterator<>() {
            private boolean last;

            @Override
            public boolean hasNext() {
                if (last) {
                    return false;
                }
                Map<String, Object> order = nextOrder();
                Test test = "run".equals(order.get("do")) ? tests.get(order.get("test")) : null;
                return test != null && test.uniqueId().equals(uniqueId);
            }

            @Override
            public Run next() {
                if (!hasNext()) {
                    throw new NoSuchElementException();
                }
                Map<String, Object> order = pending;
                pending = null;
                last = Boolean.TRUE.equals(order.get("fresh_fixtures"));
                running = new Run(order);
                running.begin(shares);
                return running;
            }
        };
    }

    /** What JUnit says about the test that runs. */
    private final class Results implements TestExecutionListener {
        @Override
        public void executionFinished(TestIdentifier test, TestExecutionResult result) {
            Throwable error = result.getThrowable().orElse(null);
            if (running != null && test.isTest()) {
                Run run = running;
                running = null;
                control.result(run.end(result.getStatus(), error));
            } else if (pending != null && "run".equals(pending.get("do")) && result.getStatus() != TestExecutionResult.Status.SUCCESSFUL) {
                // @BeforeAll failed before the test was reached. After it (@AfterAll), the order is for the next one and not to be blamed.
                Run run = new Run(pending);
                if (isAround(test, run)) {
                    pending = null;
                    String outcome = result.getStatus() == TestExecutionResult.Status.ABORTED ? "skipped" : "error";
                    control.result(run.report(outcome, "setup", message(error), error));
                }
            }
        }

        private boolean reached;

        @Override
        public void executionStarted(TestIdentifier test) {
            reached |= test.isTest();
        }

        private boolean isAround(TestIdentifier container, Run run) {
            return !reached && tests.get(run.test).uniqueId().startsWith(container.getUniqueId());
        }
    }

    // ---- one execution ----

    final class Run {
        private final Map<String, Object> order;
        private final String test;
        private final MurphyExecution execution;
        private String phase = "setup";
        private List<String> shares = List.of();
        private Tail tail;
        private PrintStream out;
        private PrintStream err;
        private Set<Thread> threads;
        private Properties properties;
        private long begun;

        private Run(Map<String, Object> order) {
            this.order = order;
            this.test = String.valueOf(order.get("test"));
            List<String> faults = order.get("faults") instanceof List<?> list ? list.stream().map(String::valueOf).toList() : List.of();
            Map<String, String> headers = new LinkedHashMap<>();
            if (order.get("headers") instanceof Map<?, ?> given) {
                given.forEach((name, value) -> headers.put(String.valueOf(name), String.valueOf(value)));
            }
            execution = new MurphyExecution(String.valueOf(order.get("execution")), faults, Collections.unmodifiableMap(headers));
        }

        MurphyExecution execution() {
            return execution;
        }

        private void begin(List<String> shares) {
            this.shares = shares;
            begun = System.nanoTime();
            threads = new HashSet<>(Thread.getAllStackTraces().keySet());
            properties = (Properties) System.getProperties().clone();
            tail = new Tail();
            out = System.out;
            err = System.err;
            System.setOut(new PrintStream(tail, true, StandardCharsets.UTF_8));
            System.setErr(new PrintStream(tail, true, StandardCharsets.UTF_8));
        }

        void announce(String name) {
            phase = name;
            control.phase(execution.id(), name);
        }

        private boolean cleaning;

        /** The same phase for clean-up after a test that failed; where it failed stays known. */
        void cleanUp() {
            if (!cleaning) {
                cleaning = true;
                if (!phase.equals("teardown")) {
                    control.phase(execution.id(), "teardown");
                }
            }
        }

        private Map<String, Object> end(TestExecutionResult.Status status, Throwable error) {
            cleanUp();
            System.setOut(out);
            System.setErr(err);
            String outcome =
                    switch (status) {
                        case SUCCESSFUL -> "passed";
                        case ABORTED -> "skipped";
                        case FAILED -> phase.equals("call") ? "failed" : "error";
                    };
            String where = status == TestExecutionResult.Status.SUCCESSFUL ? "call" : phase;
            Map<String, Object> report = report(outcome, where, error == null ? "" : message(error), error);
            report.put("changed", changed());
            return report;
        }

        private Map<String, Object> report(String outcome, String where, String message, Throwable error) {
            Map<String, Object> report = new LinkedHashMap<>();
            report.put("execution", execution.id());
            report.put("test", test);
            report.put("outcome", outcome);
            report.put("phase", where);
            report.put("message", message);
            report.put("exceptions", error == null || outcome.equals("skipped") ? List.of() : chain(error));
            report.put("output", output(error));
            report.put("took_ms", begun == 0 ? 0 : (System.nanoTime() - begun) / 1_000_000);
            report.put("shares", shares);
            report.put("changed", List.of());
            return report;
        }

        private String output(Throwable error) {
            Tail all = tail == null ? new Tail() : tail;
            if (error != null) {
                error.printStackTrace(new PrintStream(all, true, StandardCharsets.UTF_8));
            }
            return all.text();
        }

        /** Puts system properties back; threads can only be named. */
        private List<String> changed() {
            List<String> changed = new ArrayList<>();
            Set<String> names = new TreeSet<>();
            Properties now = System.getProperties();
            for (Properties each : List.of(now, properties)) {
                each.forEach((name, value) -> {
                    if (!java.util.Objects.equals(now.get(name), properties.get(name))) {
                        names.add(String.valueOf(name));
                    }
                });
            }
            if (!names.isEmpty()) {
                System.setProperties(properties);
                changed.add("system properties: " + String.join(", ", names));
            }
            long left = threadsLeft();
            if (left > 0) {
                changed.add("threads: " + left);
            }
            return changed;
        }

        private long threadsLeft() {
            long until = System.nanoTime() + THREAD_GRACE_MS * 1_000_000;
            while (true) {
                long left = Thread.getAllStackTraces().keySet().stream().filter(thread -> !threads.contains(thread)).filter(Worker::isOfTheTest).count();
                if (left == 0 || System.nanoTime() > until) {
                    return left;
                }
                try {
                    Thread.sleep(5);
                } catch (InterruptedException interrupted) {
                    Thread.currentThread().interrupt();
                    return left;
                }
            }
        }
    }

    /** The JVM and its HTTP clients start threads of their own as they please. */
    private static boolean isOfTheTest(Thread thread) {
        String name = thread.getName();
        boolean own = name.startsWith("HttpClient-") || name.startsWith("Keep-Alive-") || name.startsWith("ForkJoinPool.commonPool-");
        return !own && thread.getThreadGroup() != null && !thread.getThreadGroup().getName().equals("InnocuousThreadGroup");
    }

    static List<String> sharedBy(Class<?> test) {
        List<String> shared = new ArrayList<>();
        for (var annotation : List.of(BeforeAll.class, AfterAll.class)) {
            for (Method method : AnnotationSupport.findAnnotatedMethods(test, annotation, org.junit.platform.commons.support.HierarchyTraversalMode.TOP_DOWN)) {
                shared.add(method.getName() + " (class)");
            }
        }
        return shared;
    }

    private static String message(Throwable error) {
        if (error == null) {
            return "failed";
        }
        boolean assertion = error instanceof AssertionError || error instanceof org.opentest4j.TestAbortedException;
        String text = assertion && error.getMessage() != null ? error.getMessage() : error.toString();
        return text.lines().map(String::strip).filter(line -> !line.isEmpty()).findFirst().map(Worker::cut).orElse("failed");
    }

    private static String cut(String text) {
        return text.length() <= MESSAGE_LIMIT ? text : text.substring(0, MESSAGE_LIMIT);
    }

    /** The exception and its causes, outermost first. */
    private static List<Object> chain(Throwable error) {
        List<Object> chain = new ArrayList<>();
        Set<Throwable> seen = Collections.newSetFromMap(new IdentityHashMap<>());
        for (Throwable next = error; next != null && seen.add(next) && chain.size() < CHAIN_LIMIT; next = next.getCause()) {
            chain.add(Map.of("type", next.getClass().getName(), "message", cut(String.valueOf(next.getMessage()))));
        }
        return chain;
    }

    /** Keeps the end of what is printed. */
    private static final class Tail extends OutputStream {
        private byte[] kept = new byte[2 * OUTPUT_LIMIT];
        private int size;

        @Override
        public synchronized void write(int one) {
            write(new byte[] {(byte) one}, 0, 1);
        }

        @Override
        public synchronized void write(byte[] bytes, int from, int count) {
            int taken = Math.min(count, OUTPUT_LIMIT);
            if (size + taken > kept.length) {
                int remaining = Math.min(size, OUTPUT_LIMIT);
                System.arraycopy(kept, size - remaining, kept, 0, remaining);
                size = remaining;
            }
            System.arraycopy(bytes, from + count - taken, kept, size, taken);
            size += taken;
        }

        private synchronized String text() {
            int count = Math.min(size, OUTPUT_LIMIT);
            return new String(kept, size - count, count, StandardCharsets.UTF_8);
        }
    }
}
