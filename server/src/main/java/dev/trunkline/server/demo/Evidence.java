package dev.trunkline.server.demo;

import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * All that is known when the demo is over. Times are nanoseconds on one clock.
 *
 * @param rows the orders in the business table
 * @param ends for each partition, the offset that its next message would get
 */
record Evidence(List<Sent> sent, List<Seen> seen, Set<Order.Id> rows, Map<Integer, Long> ends) {}
