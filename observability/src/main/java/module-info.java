/**
 * Metrics through Micrometer ({@link dev.trunkline.observability.TrunklineMetrics}) and traces through OpenTelemetry
 * ({@link dev.trunkline.observability.TrunklineTracing}). Who uses one of them needs not have the other's library.
 */
module dev.trunkline.observability {
    requires transitive dev.trunkline;
    requires static transitive io.opentelemetry.api;
    requires static transitive io.opentelemetry.context;
    requires static transitive micrometer.core;
    requires org.slf4j;
    requires static org.jspecify;

    exports dev.trunkline.observability;
}
