package dev.trunkline.consume;

import dev.trunkline.GroupStatus;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The life of a group, as the functions of {@code 014_life.sql} lead it. Times are numbers of whatever unit. {@code LifeTest} walks both and
 * compares them.
 *
 * @param isMember whether a session takes part in the group
 * @param beatAt when it last beat
 * @param unattendedSince null: it was attended when somebody last looked
 * @param releasedAt null: it holds messages back
 * @param deaths when it died
 */
record Life(
        GroupStatus status,
        long statusSince,
        boolean isMember,
        long beatAt,
        @Nullable Long unattendedSince,
        @Nullable Long releasedAt,
        List<Long> deaths) {

    /**
     * How long things take.
     *
     * @param believed for how long a member counts after a beat
     * @param deadAfter without a member
     * @param ttl after which a group that is paused, or has no member, holds nothing back
     * @param day in which three deaths are too many
     */
    record Times(long believed, long deadAfter, long ttl, long day) {}

    /** What can happen. */
    enum Deed {
        BEAT,
        JOIN,
        LEAVE,
        PAUSE,
        RESUME,
        RESURRECT,
        CANCEL,
        LOOK
    }

    /** Decides whether a group that nobody attends is dead. */
    interface Death {
        boolean strikes(Life before, Life seen, long now, Times times);
    }

    /** As upkeep does it: it was unattended when somebody looked, and has been for long. */
    static final Death AFTER_TWO_LOOKS = (before, seen, now, times) ->
            seen.status == GroupStatus.ACTIVE && Objects.requireNonNull(seen.unattendedSince) <= now - times.deadAfter;

    static Life begun(long now) {
        return new Life(GroupStatus.ACTIVE, now, false, now, now, null, List.of());
    }

    /** What comes of a deed; null: it is refused. */
    @Nullable
    Life after(Deed deed, long now, Times times, Death death) {
        return switch (deed) {
            case BEAT -> new Life(status, statusSince, isMember, now, unattendedSince, releasedAt, deaths);
            case JOIN -> join(now);
            case LEAVE -> member(false);
            case PAUSE -> status == GroupStatus.ACTIVE ? become(GroupStatus.PAUSED, now) : null;
            case RESUME ->
                status == GroupStatus.PAUSED || status == GroupStatus.DEAD ? become(GroupStatus.ACTIVE, now) : null;
            case RESURRECT -> status == GroupStatus.DEAD ? become(GroupStatus.ACTIVE, now) : null;
            case CANCEL -> status == GroupStatus.CANCELLED ? null : become(GroupStatus.CANCELLED, now);
            case LOOK -> status == GroupStatus.CANCELLED ? this : look(now, times, death);
        };
    }

    boolean isAttended(long now, Times times) {
        return isMember && now - beatAt < times.believed;
    }

    private Life join(long now) {
        Life alive = (status == GroupStatus.DEAD ? become(GroupStatus.ACTIVE, now) : this).member(true);
        return alive.status == GroupStatus.CANCELLED ? alive : alive.marked(null, null);
    }

    private Life look(long now, Times times, Death death) {
        boolean attended = isAttended(now, times);
        Life seen = this;
        if (attended && unattendedSince != null) {
            seen = marked(null, null);
        } else if (!attended && (unattendedSince == null || (isMember && beatAt >= unattendedSince))) {
            seen = marked(now, releasedAt);
        }
        if (attended && status == GroupStatus.DEAD) {
            seen = seen.become(GroupStatus.ACTIVE, now);
        } else if (!attended && death.strikes(this, seen, now, times)) {
            seen = seen.die(now);
        }
        boolean overdue = (seen.unattendedSince != null && seen.unattendedSince <= now - times.ttl)
                || (seen.status == GroupStatus.PAUSED && seen.statusSince <= now - times.ttl);
        return seen.releasedAt == null && overdue ? seen.marked(seen.unattendedSince, now) : seen;
    }

    private Life become(GroupStatus other, long now) {
        boolean isCalledBack = status == GroupStatus.DEAD && unattendedSince != null;
        return new Life(
                other,
                now,
                isMember,
                beatAt,
                isCalledBack ? Long.valueOf(now) : unattendedSince,
                other == GroupStatus.ACTIVE ? null : releasedAt,
                deaths);
    }

    private Life die(long now) {
        List<Long> more = new ArrayList<>(deaths);
        more.add(now);
        return new Life(GroupStatus.DEAD, now, isMember, beatAt, unattendedSince, releasedAt, List.copyOf(more));
    }

    private Life member(boolean is) {
        return new Life(status, statusSince, is, beatAt, unattendedSince, releasedAt, deaths);
    }

    private Life marked(@Nullable Long unattended, @Nullable Long released) {
        return new Life(status, statusSince, isMember, beatAt, unattended, released, deaths);
    }

    /** What people are told of it. */
    String health(long now, Times times) {
        if (status != GroupStatus.ACTIVE) {
            return status.name();
        }
        if (unattendedSince == null) {
            return deaths.stream().filter(death -> death > now - times.day).count() >= 3 ? "FLAPPING" : "HEALTHY";
        }
        return 2 * (now - unattendedSince) >= times.deadAfter ? "NEAR_TIMEOUT" : "UNATTENDED";
    }
}
