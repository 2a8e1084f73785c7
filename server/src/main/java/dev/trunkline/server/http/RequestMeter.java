package dev.trunkline.server.http;

import java.time.Duration;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;

/** Measures requests, from when they come in until they are answered. */
final class RequestMeter extends Handler.Wrapper {

    private static final String ROUTE = RequestMeter.class.getName();

    private final Monitoring monitoring;

    RequestMeter(Handler handler, Monitoring monitoring) {
        super(handler);
        this.monitoring = monitoring;
    }

    /** Says by which route a request is served. */
    static void note(Request request, Route route) {
        request.setAttribute(ROUTE, route);
    }

    @Override
    public boolean handle(Request request, Response response, Callback callback) throws Exception {
        long began = System.nanoTime();
        return super.handle(request, response, Callback.from(callback, () -> over(request, response, began)));
    }

    private void over(Request request, Response response, long began) {
        Duration took = Duration.ofNanos(System.nanoTime() - began);
        if (request.getAttribute(ROUTE) instanceof Route route) {
            monitoring.answered(route.method(), route.template(), response.getStatus(), took);
        } else {
            monitoring.answered("none", "none", response.getStatus(), took);
        }
    }
}
