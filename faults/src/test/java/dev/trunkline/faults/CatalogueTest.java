package dev.trunkline.faults;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class CatalogueTest {

    @Test
    void every_fault_of_the_specification_is_there() {
        assertThat(Catalogue.all())
                .extracting(Fault::id)
                .doesNotHaveDuplicates()
                .containsAll(IntStream.rangeClosed(1, 31).mapToObj(i -> "F" + i).toList());
    }
}
