package dev.trunkline.faults;

import dev.trunkline.faults.ConsumerMain.Patience;
import dev.trunkline.rig.ChildJvm;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

/** The processes of a trial. Each writes a journal of its own, and so does the one that follows it when it was killed. */
final class Crowd implements AutoCloseable {

    private static final String STARTED = "started";
    private static final String STOP = "stop";
    private static final Duration PATIENCE = Duration.ofMinutes(1);
    private static final CountDownLatch STARTING = new CountDownLatch(1);

    /** A process, and what it is started with. */
    static final class Member implements AutoCloseable {
        private final String role;
        private final Class<?> main;
        private final List<String> arguments;
        private final List<String> prefix;
        private final Address address;
        private final Crowd crowd;
        private volatile String name = "";
        private volatile ChildJvm process;

        private Member(
                Crowd crowd, String role, Class<?> main, List<String> arguments, List<String> prefix, Address address) {
            this.crowd = crowd;
            this.prefix = prefix;
            this.address = address;
            this.role = role;
            this.main = main;
            this.arguments = arguments;
            this.process = crowd.start(this);
        }

        /** What it calls itself in its journal; another name after every start. */
        String name() {
            return name;
        }

        long pid() {
            return process.pid();
        }

        /** SIGKILL. */
        void kill() throws InterruptedException {
            process.kill();
            process.waitFor();
        }

        boolean isAlive() {
            return process.isAlive();
        }

        void startAgain() {
            process = crowd.start(this);
        }

        /** SIGSTOP or SIGCONT. */
        void signal(String signal) throws IOException, InterruptedException {
            new ProcessBuilder("kill", "-" + signal, "" + process.pid())
                    .inheritIO()
                    .start()
                    .waitFor();
        }

        /** Asks it to end and waits until it has. */
        void stop() throws InterruptedException {
            process.writeLine(STOP);
            Optional<Integer> code = process.waitFor(PATIENCE);
            if (!code.equals(Optional.of(0))) {
                throw new IllegalStateException(
                        "a " + role + code.map(n -> " ended with " + n).orElse(" did not end within " + PATIENCE));
            }
        }

        @Override
        public void close() {
            process.close();
        }
    }

    private final Address address;
    private final Path journals;
    private final Random random;
    private final Patience patience;
    private final List<Member> publishers = new ArrayList<>();
    private final List<Member> consumers = new ArrayList<>();
    private final List<Member> extras = new CopyOnWriteArrayList<>();
    private final List<Member> guests = new ArrayList<>();
    private final AtomicInteger started = new AtomicInteger();

    /** @param patience that of consumers */
    Crowd(Address address, Path journals, Random random, Patience patience) {
        this.patience = patience;
        this.address = address;
        this.journals = journals;
        this.random = random;
    }

    void addPublisher(PublisherMain.Habits habits) {
        addPublisher(habits, List.of());
    }

    /** One that is started by another command. */
    void addPublisher(PublisherMain.Habits habits, List<String> prefix) {
        publishers.add(
                new Member(this, "publisher", PublisherMain.class, List.of(habits.arguments()), prefix, address));
    }

    void addConsumer() {
        addConsumer(List.of(), address);
    }

    /** One that is started by another command and finds the server elsewhere. */
    void addConsumer(List<String> prefix, Address itsAddress) {
        consumers.add(new Member(this, "consumer", ConsumerMain.class, patience.arguments(), prefix, itsAddress));
    }

    /** One more, which whoever wants it stops. */
    Member newConsumer() {
        Member member = new Member(this, "consumer", ConsumerMain.class, patience.arguments(), List.of(), address);
        extras.add(member);
        return member;
    }

    /** One more that is not a consumer like the others. It is stopped with them. */
    Member addGuest(String role, Class<?> main, String... arguments) {
        Member member = new Member(this, role, main, List.of(arguments), List.of(), address);
        guests.add(member);
        return member;
    }

    /** Starts consumers again that have died, as whoever looks after them would. How many had. */
    int replaceDead() {
        List<Member> dead =
                consumers.stream().filter(consumer -> !consumer.isAlive()).toList();
        dead.forEach(Member::startAgain);
        return dead.size();
    }

    List<Member> publishers() {
        return publishers;
    }

    List<Member> consumers() {
        return consumers;
    }

    /** The one that lives on an island. */
    Member islander() {
        return consumers.getLast();
    }

    List<Member> guests() {
        return guests;
    }

    private ChildJvm start(Member member) {
        String before = member.name;
        member.name = member.role + "-" + started.incrementAndGet();
        List<String> arguments = new ArrayList<>(List.of(journals.toString(), member.name));
        if (member.main == PublisherMain.class) {
            arguments.add("" + random.nextLong(1_000_000_000));
            arguments.add(before);
        }
        arguments.addAll(member.arguments);
        ChildJvm process = ChildJvm.start(
                member.prefix, member.main, member.address.environment(), arguments.toArray(String[]::new));
        for (String line = process.readLine(); !STARTED.equals(line); line = process.readLine()) {
            if (line == null) {
                throw new IllegalStateException("a " + member.role + " ended before it had started");
            }
        }
        process.passOn();
        return process;
    }

    /** In a process of the crowd: it is at work. */
    static void sayStarted() {
        System.out.println(STARTED);
        STARTING.countDown();
    }

    /** In a process of the crowd: returns when it is at work. */
    static void awaitStarted() throws InterruptedException {
        STARTING.await();
    }

    /** In a process of the crowd: returns when it is to end. */
    static void awaitStop() throws IOException {
        int next = System.in.read();
        while (next >= 0 && next != '\n') {
            next = System.in.read();
        }
    }

    @Override
    public void close() {
        Stream.of(publishers, consumers, extras, guests).flatMap(List::stream).forEach(Member::close);
    }
}
