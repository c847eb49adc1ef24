//! What a person can act on has a ref in the compact layout, and no name is lost.

use super::*;

fn render(layout: Layout, facts: Value) -> String {
    let options = RenderOptions {
        layout,
        depth: None,
    };
    document("", facts).render(&options).text
}

#[test]
fn a_name_is_kept_if_the_wrapper_that_shows_it_is_left_out() {
    let facts = json!([
        ["button", "Nine", 1, 1, { "sources": [1] }],
        ["generic", "", 2, 2],
        ["generic", "", 3, 0],
        " Nine",
    ]);
    assert_eq!(
        render(Layout::Full, facts.clone()),
        "- button \"Nine\" [ref=e1]"
    );
    assert_eq!(render(Layout::Compact, facts), "button \"Nine\" e1");
}

#[test]
fn what_acts_has_a_ref_of_its_own() {
    let facts = json!([
        ["generic", "", 1, 9],
        ["generic", "", 2, 1],
        ["generic", "", 3, 1, { "action": "pointer" }],
        "Only child",
        ["paragraph", "", 4, 3],
        "Text ",
        ["generic", "", 5, 1, { "action": "pointer" }],
        "inline",
        " text",
        ["generic", "", 6, 0, { "action": "own" }],
        ["generic", "", 7, 1, { "action": "pointer" }],
        ["img", "Picture", 8, 0],
        ["generic", "", 9, 1, { "action": "pointer" }],
        ["link", "Link", 10, 0, { "action": "pointer", "url": "/" }],
        ["generic", "", 11, 1, { "action": "own" }],
        ["button", "Inside", 12, 0],
        ["generic", "", 13, 1, { "action": "weak" }],
        ["button", "Inside", 14, 0],
        ["list", "", 15, 1, { "action": "weak" }],
        ["listitem", "", 16, 1, { "action": "pointer" }],
        "Item",
        ["heading", "Title", 17, -1, { "action": "own", "editable": true, "level": 2 }],
    ]);
    expect_test::expect![[r#"
        generic e3: Only child
        Text generic e5: "inline" text
        generic e6
        img "Picture" e8
        link "Link" e10 → /
        generic e11
         button "Inside" e12
        button "Inside" e14
        listitem e16: Item
        heading "Title" [editable] [level=2] e17"#]]
    .assert_eq(&render(Layout::Compact, facts));
}

#[test]
fn a_row_with_an_action_and_its_cells_have_refs() {
    let facts = json!([
        ["table", "", 1, 1],
        ["row", "Ada Edit", 2, 2, { "action": "listens", "sources": [2, 4] }],
        ["cell", "Ada", 3, -1, { "action": "listens" }],
        ["cell", "Edit", 4, 1, { "sources": [4] }],
        ["button", "Edit", 5, -1],
    ]);
    assert_eq!(
        render(Layout::Compact, facts),
        "table e1\n row e2: | Ada e3 | button \"Edit\" e5"
    );
}

#[test]
fn listeners_of_an_element_with_many_targets_are_for_those() {
    let page = |targets: usize| {
        let mut facts = vec![
            json!(["generic", "", 1, targets + 1, { "action": "listens" }]),
            json!("Text"),
        ];
        facts.extend((0..targets).map(|at| json!(["button", format!("b{at}"), at + 2, 0])));
        render(Layout::Compact, Value::from(facts))
    };
    assert!(page(1).starts_with("generic e1: Text"), "{}", page(1));
    assert!(page(20).starts_with("Text\n"), "{}", page(20));
}

#[test]
fn what_is_left_out_between_two_texts_separates_them() {
    let facts = json!([
        ["paragraph", "", 1, 3],
        "before",
        ["img", "", 2, 0],
        "after"
    ]);
    assert_eq!(render(Layout::Compact, facts.clone()), "before after");
    assert_eq!(
        render(Layout::Full, facts),
        "- paragraph [ref=e1]: beforeafter"
    );
}
