/** A PostgreSQL server as part of an application: see {@link dev.trunkline.embedded}. */
module dev.trunkline.embedded {
    requires transitive java.sql;
    requires java.naming;
    requires org.apache.commons.compress;
    requires org.postgresql.jdbc;
    requires org.slf4j;
    requires org.tukaani.xz;
    requires static org.jspecify;

    exports dev.trunkline.embedded;
}
