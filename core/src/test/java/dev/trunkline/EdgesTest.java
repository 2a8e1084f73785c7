package dev.trunkline;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;

/** The allowed edges between packages: the figure in ARCHITECTURE.md, checked. */
class EdgesTest {

    private static final JavaClasses CORE = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages("dev.trunkline");

    @Test
    void packages_know_only_those_below_them() {
        layeredArchitecture()
                .consideringOnlyDependenciesInLayers()
                .layer("entry")
                .definedBy(type("the entry point", "dev.trunkline.Trunkline"))
                .layer("publish")
                .definedBy("dev.trunkline.publish")
                .layer("consume")
                .definedBy("dev.trunkline.consume")
                .layer("pull")
                .definedBy("dev.trunkline.pull")
                .layer("upkeep")
                .definedBy("dev.trunkline.upkeep")
                .layer("log")
                .definedBy("dev.trunkline.log")
                .layer("outbox")
                .definedBy("dev.trunkline.outbox")
                .layer("topic")
                .definedBy("dev.trunkline.topic")
                .layer("schema")
                .definedBy("dev.trunkline.schema")
                .layer("database")
                .definedBy("dev.trunkline.database")
                .whereLayer("entry")
                .mayNotBeAccessedByAnyLayer()
                .whereLayer("publish")
                .mayOnlyBeAccessedByLayers("entry")
                .whereLayer("consume")
                .mayOnlyBeAccessedByLayers("entry")
                .whereLayer("pull")
                .mayOnlyBeAccessedByLayers("entry")
                .whereLayer("upkeep")
                .mayOnlyBeAccessedByLayers("entry")
                .whereLayer("log")
                .mayOnlyBeAccessedByLayers("entry", "consume", "pull")
                .whereLayer("outbox")
                .mayOnlyBeAccessedByLayers("entry", "publish")
                .whereLayer("topic")
                .mayOnlyBeAccessedByLayers("entry", "publish")
                .whereLayer("schema")
                .mayOnlyBeAccessedByLayers("entry")
                .whereLayer("database")
                .mayOnlyBeAccessedByLayers(
                        "entry", "publish", "consume", "pull", "upkeep", "log", "outbox", "topic", "schema")
                .check(CORE);
    }

    @Test
    void what_users_see_does_not_depend_on_what_they_do_not() {
        noClasses()
                .that()
                .resideInAPackage("dev.trunkline")
                .and()
                .haveNameNotMatching("dev\\.trunkline\\.Trunkline(\\$Builder)?")
                .should()
                .dependOnClassesThat()
                .resideInAPackage("dev.trunkline.*..")
                .check(CORE);
    }

    @Test
    void nobody_blocks_with_synchronized() {
        // On JDK 21 to 23 it pins virtual threads.
        classes().should(NoSynchronized.METHODS).check(CORE);
    }

    private static com.tngtech.archunit.base.DescribedPredicate<com.tngtech.archunit.core.domain.JavaClass> type(
            String description, String name) {
        return com.tngtech.archunit.base.DescribedPredicate.describe(
                description,
                type -> type.getName().equals(name) || type.getName().startsWith(name + "$"));
    }

    private static final class NoSynchronized {
        static final com.tngtech.archunit.lang.ArchCondition<com.tngtech.archunit.core.domain.JavaClass> METHODS =
                new com.tngtech.archunit.lang.ArchCondition<>("have no synchronized methods") {
                    @Override
                    public void check(
                            com.tngtech.archunit.core.domain.JavaClass type,
                            com.tngtech.archunit.lang.ConditionEvents events) {
                        type.getMethods().stream()
                                .filter(method -> method.getModifiers()
                                        .contains(com.tngtech.archunit.core.domain.JavaModifier.SYNCHRONIZED))
                                .forEach(method -> events.add(com.tngtech.archunit.lang.SimpleConditionEvent.violated(
                                        method, method.getFullName() + " is synchronized")));
                    }
                };
    }
}
