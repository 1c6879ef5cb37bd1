package murphy.junit;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.TestTemplate;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * A test that Murphy runs again and again, each time with other calls failing. In place of {@code @Test}; without Murphy it runs once, as a
 * {@code @Test} does. It may take a {@link MurphyExecution} as a parameter.
 */
@Target({ElementType.METHOD, ElementType.ANNOTATION_TYPE})
@Retention(RetentionPolicy.RUNTIME)
@TestTemplate
@ExtendWith(MurphyExtension.class)
public @interface MurphyTest {}
