package dev.trunkline.rig;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.trunkline.rig.FaultProxy.Fate;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Both ends of the line are in the test's hands, so that it decides in which pieces everything comes. */
@Timeout(60)
class FaultProxyTest {

    private static final byte[] SYNC = Wire.frame('S');
    private static final byte[] EXECUTE = Wire.frame('E', "", "\0\0\0");

    private final ServerSocket listener;
    private final FaultProxy proxy;
    private final Socket client;
    private final Socket server;

    FaultProxyTest() throws IOException {
        listener = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
        proxy = new FaultProxy(listener.getLocalPort());
        client = new Socket(InetAddress.getLoopbackAddress(), proxy.port());
        server = listener.accept();
        client.setTcpNoDelay(true);
        server.setTcpNoDelay(true);
    }

    @BeforeEach
    void open() throws IOException {
        ask(Wire.startup());
        answer(Wire.ready('I'));
    }

    @AfterEach
    void close() throws IOException {
        proxy.close();
        client.close();
        server.close();
        listener.close();
    }

    private void ask(byte[]... frames) throws IOException {
        client.getOutputStream().write(Wire.join(List.of(frames)));
        assertThat(heard(frames)).isEqualTo(Wire.join(List.of(frames)));
    }

    private byte[] heard(byte[]... frames) throws IOException {
        return server.getInputStream().readNBytes(Wire.join(List.of(frames)).length);
    }

    private void answer(byte[]... frames) throws IOException {
        byte[] all = Wire.join(List.of(frames));
        server.getOutputStream().write(all);
        assertThat(client.getInputStream().readNBytes(all.length)).isEqualTo(all);
    }

    /** Byte by byte, each by itself. */
    private static void inPieces(Socket to, byte[]... frames) throws Exception {
        for (byte each : Wire.join(List.of(frames))) {
            to.getOutputStream().write(each);
            Thread.sleep(2);
        }
    }

    private static void assertReset(Socket socket) {
        assertThatThrownBy(() -> socket.getInputStream().read()).isInstanceOf(SocketException.class);
    }

    @Test
    void a_commit_in_pieces_is_cut_before_the_server_has_heard_any_of_it() throws Exception {
        proxy.trapCommit(Fate.REQUEST_CUT);
        inPieces(client, Wire.query("COMMIT"));
        assertReset(server);
        assertReset(client);
        assertThat(proxy.trapped()).isOne();
    }

    @Test
    void a_commit_in_pieces_is_heard_and_its_reply_in_pieces_is_cut() throws Exception {
        proxy.trapCommit(Fate.REPLY_CUT);
        byte[] commit = Wire.query("COMMIT");
        inPieces(client, commit);
        assertThat(heard(commit)).isEqualTo(commit);
        inPieces(server, Wire.frame('C', "COMMIT"), Wire.ready('I'));
        assertReset(client);
        assertReset(server);
    }

    @Test
    void a_commit_that_was_prepared_before_is_trapped_by_its_name() throws Exception {
        ask(Wire.frame('P', "S_1", "select 1", "\0"), Wire.frame('P', "S_2", " Commit ;", "\0"), SYNC);
        answer(Wire.ready('T'));
        proxy.trapCommit(Fate.REPLY_CUT);
        ask(Wire.frame('B', "", "S_1", "COMMIT"), EXECUTE, SYNC);
        answer(Wire.ready('T'));
        assertThat(proxy.trapped()).isZero();
        ask(Wire.frame('B', "", "S_2", "\0\0\0\0\0"), EXECUTE, SYNC);
        assertThat(proxy.trapped()).isOne();
        inPieces(server, Wire.frame('C', "COMMIT"), Wire.ready('I'));
        assertReset(client);
    }

    @Test
    void a_statement_that_was_closed_is_forgotten() throws Exception {
        ask(Wire.frame('P', "S_1", "commit", "\0"), SYNC, Wire.frame('C', "SS_1"), SYNC);
        answer(Wire.ready('I'), Wire.ready('I'));
        proxy.trapCommit(Fate.REQUEST_CUT);
        ask(Wire.frame('B', "", "S_1", "\0\0\0\0\0"), SYNC);
        assertThat(proxy.trapped()).isZero();
    }

    @Test
    void what_was_asked_before_is_answered() throws Exception {
        proxy.trapCommit(Fate.REPLY_CUT);
        ask(Wire.query("select 1"), Wire.query("commit"), Wire.query("select 2"));
        answer(Wire.frame('C', "SELECT 1"), Wire.ready('T'));
        server.getOutputStream().write(Wire.join(List.of(Wire.frame('C', "COMMIT"), Wire.ready('I'))));
        assertReset(client);
    }

    @Test
    void a_text_in_pieces_is_trapped_and_vanishes_with_all_that_follows() throws Exception {
        proxy.trap("the wörd", Fate.REQUEST_VANISHES);
        client.getOutputStream().write(Wire.query("before"));
        inPieces(client, Wire.query("select 'the wörd'"), Wire.query("after"));
        assertThat(heard(Wire.query("before"))).isEqualTo(Wire.query("before"));
        while (proxy.trapped() == 0) { // it is on its way
            Thread.onSpinWait();
        }
        proxy.restore();
        assertReset(server);
    }

    @Test
    void only_notifications_are_silenced() throws Exception {
        proxy.silence(true);
        byte[] notification = Wire.frame('A', "bell");
        server.getOutputStream()
                .write(Wire.join(List.of(Wire.frame('C', "A"), notification, Wire.ready('I'), notification)));
        byte[] rest = Wire.join(List.of(Wire.frame('C', "A"), Wire.ready('I')));
        assertThat(client.getInputStream().readNBytes(rest.length)).isEqualTo(rest);
        proxy.silence(false);
        answer(notification);
    }

    @Test
    void what_is_delayed_arrives_later() throws Exception {
        proxy.delay(Duration.ofMillis(20), Duration.ofMillis(20));
        long began = System.nanoTime();
        ask(Wire.query("select 1"));
        answer(Wire.ready('I'));
        assertThat(System.nanoTime() - began)
                .isGreaterThanOrEqualTo(Duration.ofMillis(40).toNanos());
        proxy.restore();
        ask(Wire.query("select 1"));
    }

    @Test
    void who_asks_for_encryption_is_understood_if_refused_and_left_alone_if_granted() throws Exception {
        for (char decision : new char[] {'N', 'S'}) {
            try (Socket other = new Socket(InetAddress.getLoopbackAddress(), proxy.port());
                    Socket its = listener.accept()) {
                other.getOutputStream().write(Wire.opening(Frames.ENCRYPTION));
                assertThat(its.getInputStream().readNBytes(8)).isEqualTo(Wire.opening(Frames.ENCRYPTION));
                its.getOutputStream().write(decision);
                assertThat(other.getInputStream().read()).isEqualTo(decision);
                other.getOutputStream().write(Wire.startup());
                assertThat(its.getInputStream().readNBytes(8)).isEqualTo(Wire.startup());
                proxy.trapCommit(Fate.REPLY_VANISHES);
                other.getOutputStream().write(Wire.query("commit"));
                assertThat(its.getInputStream().readNBytes(12)).isEqualTo(Wire.query("commit"));
                assertThat(proxy.trapped()).isOne();
            }
        }
    }
}
