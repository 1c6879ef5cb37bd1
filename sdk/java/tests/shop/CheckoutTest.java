package shop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import murphy.junit.MurphyExecution;
import murphy.junit.MurphyTest;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;

/** What a worker can meet; driven by the harness beside it. */
class CheckoutTest {
    private static int all;
    private static int each;
    private static int ended;
    private int number;

    @BeforeAll
    static void openShop() {
        all++;
    }

    @AfterAll
    static void closeShop() {
        ended++;
    }

    @BeforeEach
    void count(TestInfo info) {
        each++;
        if (info.getTestMethod().orElseThrow().getName().equals("cannotBeSetUp")) {
            throw new IllegalStateException("cannot set up");
        }
    }

    @AfterEach
    void clear(TestInfo info) {
        if (info.getTestMethod().orElseThrow().getName().equals("cannotBeTornDown")) {
            throw new IllegalStateException("cannot tear down");
        }
    }

    @MurphyTest
    void counts() {
        number++;
        System.out.println("all " + all + " each " + each + " ended " + ended + " number " + number);
    }

    @MurphyTest
    void reads(MurphyExecution execution) {
        System.out.println("READS " + execution.id() + " " + execution.faults() + " " + execution.headers() + " " + execution.url("cart", "none"));
    }

    @MurphyTest
    void fails() {
        System.err.println("to stderr");
        throw new IllegalStateException("no cart\nsecond line", new IOException("refused"));
    }

    @MurphyTest
    void asserts() {
        assertEquals(200, 503);
    }

    @MurphyTest
    void skips() {
        assumeTrue(false, "no database");
    }

    @MurphyTest
    void cannotBeSetUp() {}

    @MurphyTest
    void cannotBeTornDown() {}

    @MurphyTest
    void prints(MurphyExecution execution) {
        if (execution.id().isEmpty()) {
            return;
        }
        String line = "x".repeat(100_000);
        for (int count = 0; count < 1000; count++) {
            System.out.println(line);
        }
        System.out.println("the end");
    }

    @MurphyTest
    void changes() {
        System.setProperty("shop.changed", "1");
        for (int count = 0; count < 2; count++) {
            Thread thread = new Thread(() -> {
                try {
                    new CountDownLatch(1).await();
                } catch (InterruptedException interrupted) {
                    // ends
                }
            });
            thread.setDaemon(true);
            thread.start();
        }
    }

    @MurphyTest
    void ends(MurphyExecution execution) {
        if (!execution.id().isEmpty()) {
            Runtime.getRuntime().halt(7);
        }
    }

    @Test
    void isNotMurphys() {
        System.out.println("an ordinary test");
    }
}
