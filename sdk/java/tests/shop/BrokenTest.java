package shop;

import murphy.junit.MurphyTest;
import org.junit.jupiter.api.BeforeAll;

/** A class that cannot be set up in the build tool's own pass, nor in the first execution after it. */
class BrokenTest {
    private static int tried;

    @BeforeAll
    static void open() {
        tried++;
        if (tried <= 2) {
            throw new IllegalStateException("not yet");
        }
    }

    @MurphyTest
    void counts() {}
}
