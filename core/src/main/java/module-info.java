/** Durable messaging inside PostgreSQL. Only {@code dev.trunkline} is for users; all else may change. */
module dev.trunkline {
    exports dev.trunkline;

    requires transitive java.sql;
    requires com.zaxxer.hikari;
    requires org.postgresql.jdbc;
    requires org.slf4j;
    requires static org.checkerframework.checker.qual;
    requires static transitive org.jspecify;

    uses dev.trunkline.Codec;
}
