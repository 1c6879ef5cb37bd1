package murphy.junit;

import java.lang.reflect.Method;
import java.util.Iterator;
import java.util.List;
import java.util.Spliterator;
import java.util.Spliterators;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.Extension;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.InvocationInterceptor;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.jupiter.api.extension.ReflectiveInvocationContext;
import org.junit.jupiter.api.extension.TestTemplateInvocationContext;
import org.junit.jupiter.api.extension.TestTemplateInvocationContextProvider;

/**
 * What a test annotated with {@link MurphyTest} runs as: one invocation per execution that Murphy asks for. Owns the phases within an invocation;
 * which test runs when, and what is reported, is {@link Worker}'s.
 */
public final class MurphyExtension implements TestTemplateInvocationContextProvider {
    @Override
    public boolean supportsTestTemplate(ExtensionContext context) {
        return true;
    }

    @Override
    public Stream<TestTemplateInvocationContext> provideTestTemplateInvocationContexts(ExtensionContext context) {
        Worker worker = Worker.current();
        if (worker == null) {
            return Stream.of(new Invocation(MurphyExecution.NONE, List.of()));
        }
        if (!worker.isServing()) {
            return Stream.of(new Invocation(MurphyExecution.NONE, List.of(new Later())));
        }
        Iterator<Worker.Run> orders = worker.ordersFor(context.getUniqueId(), Worker.sharedBy(context.getRequiredTestClass()));
        Spliterator<Worker.Run> one = Spliterators.spliteratorUnknownSize(orders, Spliterator.ORDERED);
        return StreamSupport.stream(one, false).map(run -> new Invocation(run.execution(), List.of(new Phases(run))));
    }

    private record Invocation(MurphyExecution execution, List<Extension> around) implements TestTemplateInvocationContext {
        @Override
        public String getDisplayName(int index) {
            return execution.id().isEmpty() ? "without faults" : execution.id();
        }

        @Override
        public List<Extension> getAdditionalExtensions() {
            return Stream.concat(around.stream(), Stream.of(new Parameter(execution))).toList();
        }
    }

    private record Parameter(MurphyExecution execution) implements ParameterResolver {
        @Override
        public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
            return parameter.getParameter().getType() == MurphyExecution.class;
        }

        @Override
        public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
            return execution;
        }
    }

    /** The build tool's own pass over the tests: they run when it is over. */
    private static final class Later implements ExecutionCondition {
        @Override
        public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
            return ConditionEvaluationResult.disabled("runs when Murphy asks for it");
        }
    }

    private record Phases(Worker.Run run) implements InvocationInterceptor, AfterEachCallback {
        @Override
        public void interceptTestTemplateMethod(
                Invocation<Void> invocation, ReflectiveInvocationContext<Method> method, ExtensionContext context) throws Throwable {
            run.announce("call");
            invocation.proceed();
            run.announce("teardown");
        }

        @Override
        public void interceptAfterEachMethod(
                Invocation<Void> invocation, ReflectiveInvocationContext<Method> method, ExtensionContext context) throws Throwable {
            run.cleanUp();
            invocation.proceed();
        }

        @Override
        public void afterEach(ExtensionContext context) {
            run.cleanUp();
        }
    }
}
