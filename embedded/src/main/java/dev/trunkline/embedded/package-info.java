/**
 * A real PostgreSQL server that an application brings along, with data that outlives it.
 *
 * <h2>What lies in a data directory</h2>
 *
 * <pre>
 * directory/
 *   cluster/      what initdb made: one major version of PostgreSQL, for good
 *   password      of the user "postgres", generated, readable by its owner only
 *   server.log    what the server said
 *   lock          held by the JVM that owns the directory, for as long as it lives
 * </pre>
 *
 * <h2>Life cycle</h2>
 *
 * <p>The lock dies with its JVM; the server does not. From that, {@link EmbeddedPostgresBuilder#start()} has three cases:
 *
 * <pre>
 *   lock      server     then
 *   -------   --------   -------------------------------------------------------------------
 *   free      stopped    own the directory, start the server
 *   free      running    its JVM was killed: own the directory, adopt the server after a login
 *   taken     running    attach as a guest: {@code close()} leaves the server running
 * </pre>
 *
 * <p>A lock that is taken while no server answers means that its owner is about to start or stop one: the call waits.
 * An adopted server keeps its process, its port and its connections. It is restarted only where it runs with less
 * durability than asked for, or on another port than asked for.
 *
 * <p>A cluster is made in {@code cluster.new} and renamed once complete, so that a crash during initdb leaves nothing
 * that looks finished. The binaries are unpacked the same way, once per user, into a directory named by their hash.
 *
 * <h2>Durability</h2>
 *
 * <p>A start fails unless the running server says that {@code fsync}, {@code synchronous_commit} and {@code
 * full_page_writes} are on, apart from those that the caller has set by name.
 */
@NullMarked
package dev.trunkline.embedded;

import org.jspecify.annotations.NullMarked;
