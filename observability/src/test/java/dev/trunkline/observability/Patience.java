package dev.trunkline.observability;

import java.time.Duration;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * How long all tests wait for what must happen, if they do not say otherwise: on a machine that has other things to do, what takes a
 * moment elsewhere takes many seconds. Found by JUnit itself.
 */
public final class Patience implements BeforeAllCallback {

    @Override
    public void beforeAll(ExtensionContext context) {
        Awaitility.setDefaultTimeout(Duration.ofSeconds(60));
    }
}
