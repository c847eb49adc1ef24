//! What is generated from the code and committed. `UPDATE_EXPECT=1 cargo test` writes it anew.

use std::path::Path;

use expect_test::expect_file;

/// Compares a file of the repository with what the code says today.
fn check(path: &str, generated: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(path);
    expect_file![path].assert_eq(generated);
}

#[test]
fn the_reference_of_options_is_fresh() {
    check("docs/config.md", &playhouse::config_reference());
}

#[test]
fn the_schema_of_the_configuration_file_is_fresh() {
    check(
        "docs/config.schema.json",
        &format!("{:#}\n", playhouse::config_schema()),
    );
}
