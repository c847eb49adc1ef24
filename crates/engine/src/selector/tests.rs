use super::*;
use expect_test::{Expect, expect};
use proptest::prelude::*;

fn parsed(text: &str) -> Selector {
    Selector::parse(text, "data-testid").unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn steps(text: &str, expected: &Expect) {
    let steps: Vec<String> = parsed(text)
        .steps()
        .map(|step| serde_json::to_string(step).unwrap())
        .collect();
    expected.assert_eq(&steps.join("\n"));
}

fn shown(text: &str, expected: &str) {
    assert_eq!(parsed(text).to_string(), expected, "{text}");
}

fn error(text: &str, expected: &Expect) {
    let error = Target::parse(text, "data-testid").expect_err(text);
    expected.assert_eq(&error.to_string());
}

#[test]
fn a_ref_is_distinguished_from_an_element_name() {
    for name in ["e1", "e12", "f1e2", "f12e345"] {
        assert_eq!(
            Target::parse(name, "data-testid"),
            Ok(Target::Ref(name.into()))
        );
    }
    for other in ["e", "f1", "f1e", "fe1", "e1x", "embed", "f0"] {
        let target = Target::parse(other, "data-testid").unwrap();
        assert!(matches!(target, Target::Selector(_)), "{other}");
    }
}

fn reference(text: &str, expected: &str) {
    let target = Target::parse(text, "data-testid");
    assert_eq!(target, Ok(Target::Ref(expected.into())), "{text}");
}

#[test]
fn a_copied_line_names_its_element() {
    for text in [
        "ref=e5",
        "aria-ref=e5",
        "[ref=e5]",
        "[ref=\"e5\"]",
        "button [ref=e5]",
        "button[ref=e5]",
        "- button \"Go\" [ref=e5]",
        "  - button \"Go [ref=e9]\" [disabled] [ref=e5] [cursor=pointer]:",
        "- textbox \"Name\" [active] [ref=e5]: see e7 [ref=e8]",
        "- 'link \"it''s: \\\"x\\\"\" [ref=e5]':",
        "+ - listitem [ref=e5]:",
        "- <changed> button \"Go\" [ref=e5]",
        "- list [ref=e5]:\n  - listitem [ref=e6]: one",
        "button \"Go\" e5",
        "- button \"Go\" e5",
        "~ textbox \"Customer\" [active] e5: Ada",
        "textbox \"Customer\" [placeholder=\"e7\"] e5: \"see e8\"",
        "link \"Home\" e5 → /a?b=c",
        "combobox \"State\" e5 (*open | button e6 | closed e7)",
        "checkbox \"Urgent\" [checked] e5",
        "checkbox e5 I agree",
        "table e5",
        "generic e5",
        "e5: Ada",
        "| 1 | 9.50 | button \"Open\" e5",
        "| Total e5 | 9.50",
        "row e5: | 1 | button \"Open\" e6",
        "Read the link \"terms\" e5 → /terms first.",
        "\"button e4\" link \"terms\" e5",
        "# link \"Orders\" e5",
    ] {
        reference(text, "e5");
    }
    reference("iframe [ref=f1e2]", "f1e2");
    for other in [
        "'see e5 now'",
        "\"see e5\"",
        "text=button e5",
        "//button[. = 'e5 ']",
        "#x e",
        "a[title='e5']",
    ] {
        let target = Target::parse(other, "data-testid").unwrap();
        assert!(matches!(target, Target::Selector(_)), "{other}");
    }
    error(
        "| link \"a\" e14 | button \"Open\" e15",
        &expect!["the line names several elements (e14, e15): give the ref of one of them"],
    );
    for text in [
        "e5 > button",
        "e5 button",
        "[ref=e5] button",
        "li e5 >> text=x",
    ] {
        error(
            text,
            &expect![
                "a selector cannot contain the ref e5: give a ref alone, or a selector without refs"
            ],
        );
    }
}

#[test]
fn a_line_without_a_ref_is_a_role_locator() {
    for (line, locator) in [
        (
            "button \"Go\"",
            "getByRole('button', { name: 'Go', exact: true })",
        ),
        (
            "- heading \"It's\" [level=2]: more",
            "getByRole('heading', { name: 'It\\'s', exact: true, level: 2 })",
        ),
        (
            "checkbox \"A \\\"b\\\"\" [checked=mixed] [active] [disabled]",
            "getByRole('checkbox', { name: 'A \"b\"', exact: true, checked: 'mixed', disabled: true })",
        ),
        (
            "## Orders",
            "getByRole('heading', { name: 'Orders', exact: true, level: 2 })",
        ),
    ] {
        let target = Target::parse(line, "data-testid").unwrap();
        assert_eq!(target.to_string(), locator);
    }
    assert!(Target::parse("button \"Go\" later", "data-testid").is_err());
}

#[test]
fn locators_are_written_in_each_language() {
    for (text, locator) in [
        (
            "page.get_by_role(\"button\", name=\"Go\")",
            "getByRole('button', { name: 'Go' })",
        ),
        (
            "self.page.get_by_role('button', name=re.compile(r\"^a/b\\d$\", re.IGNORECASE | re.M), exact=True).first",
            "getByRole('button', { name: /^a\\/b\\d$/im }).first()",
        ),
        (
            "page.locator(\"li\", has_text=\"x\").filter(has_not=page.get_by_alt_text(\"y\")).nth(-2)",
            "locator('li').filter({ hasText: 'x' }).filter({ hasNot: getByAltText('y') }).nth(-2)",
        ),
        (
            "page1.frame_locator(\"iframe\").get_by_text(re.compile(\"x\", flags=re.S)).or_(page1.get_by_test_id(\"t\"))",
            "locator('iframe').contentFrame().getByText(/x/s).or(getByTestId('t'))",
        ),
        (
            "page.locator(\"iframe\").content_frame.get_by_placeholder(\"x\", exact=False)",
            "locator('iframe').contentFrame().getByPlaceholder('x')",
        ),
        (
            "page.getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName(\"Go\").setExact(true));",
            "getByRole('button', { name: 'Go', exact: true })",
        ),
        (
            "page.locator(\"li\").filter(new Locator.FilterOptions().setHas(page.getByLabel(Pattern.compile(\"a\\\\d\", Pattern.CASE_INSENSITIVE))))",
            "locator('li').filter({ has: getByLabel(/a\\d/i) })",
        ),
        (
            "await Page.GetByRole(AriaRole.Button, new() { Name = \"Go\", Checked = true })",
            "getByRole('button', { name: 'Go', checked: true })",
        ),
        (
            "Page.GetByRole(AriaRole.Menuitemcheckbox, new PageGetByRoleOptions { NameRegex = new Regex(@\"a\"\"\\d\", RegexOptions.IgnoreCase) }).First",
            "getByRole('menuitemcheckbox', { name: /a\"\\d/i }).first()",
        ),
        (
            "page.FrameLocator(\"iframe\").Locator(\"li\", new() { HasTextString = \"x\" }).Nth(1)",
            "locator('iframe').contentFrame().locator('li').filter({ hasText: 'x' }).nth(1)",
        ),
        (
            "this.page.getByText(new RegExp('a', 'i')).describe('b')",
            "getByText(/a/i)",
        ),
    ] {
        shown(text, locator);
    }
    error(
        "page.get_by_role(\"button\", nam=\"x\")",
        &expect![
            "Unexpected `nam` at 28 of the locator `page.get_by_role(\"button\", nam=\"x\")`: expected name, exact, description, checked, disabled, expanded, includeHidden, level, pressed or selected."
        ],
    );
    error(
        "page.get_by_text(re.compile(\"x\", re.LOCALE))",
        &expect![
            "Unexpected `re` at 34 of the locator `page.get_by_text(re.compile(\"x\", re.LOCALE))`: expected a flag such as re.IGNORECASE."
        ],
    );
}

#[test]
fn each_engine_is_a_step() {
    steps(
        "li.item > a[href^='/x']:not(.off), #x",
        &expect![[
            r##"{"engine":"css","css":"li.item > a[href^='/x']:not(.off), #x","native":true,"list":[[{"css":"li.item"},{"combinator":">","css":"a[href^='/x']","tests":[{"test":"not","list":[[{"css":".off"}]]}]}],[{"css":"#x"}]]}"##
        ]],
    );
    steps(
        "tr:has(> td:text-is('Total')):visible",
        &expect![[
            r#"{"engine":"css","css":"tr:has(> td:text-is('Total')):visible","native":false,"list":[[{"css":"tr","tests":[{"test":"has","list":[[{"combinator":">","css":"td","tests":[{"test":"text","text":{"text":"Total","exact":true},"nodes":true}]}]]},{"test":"visible"}]}]]}"#
        ]],
    );
    steps(
        ":nth-match(li, a:has-text('go'), 3)",
        &expect![[
            r#"{"engine":"css","css":":nth-match(li, a:has-text('go'), 3)","native":false,"list":[[{"tests":[{"test":"nthMatch","list":[[{"css":"li"}],[{"css":"a","tests":[{"test":"hasText","text":{"text":"go"}}]}]],"n":3}]}]]}"#
        ]],
    );
    steps(
        "input:right-of(b, i, 12.5):near(u)",
        &expect![[
            r#"{"engine":"css","css":"input:right-of(b, i, 12.5):near(u)","native":false,"list":[[{"css":"input","tests":[{"test":"layout","side":"rightOf","list":[[{"css":"b"}],[{"css":"i"}]],"distance":12.5},{"test":"layout","side":"near","list":[[{"css":"u"}]]}]}]]}"#
        ]],
    );
    steps(
        "text=It's on >> .. >> nth=-1 >> visible=true",
        &expect![[r#"
            {"engine":"text","text":{"text":"It's on"}}
            {"engine":"xpath","expression":".."}
            {"engine":"nth","index":-1}
            {"engine":"visible","visible":true}"#]],
    );
    steps(
        r#"text="Go >> on" >> text=/a\/>>b/i"#,
        &expect![[r#"
            {"engine":"text","text":{"text":"Go >> on","exact":true},"nodes":true}
            {"engine":"text","text":{"regex":"a\\/>>b","flags":"i"}}"#]],
    );
    steps(
        "text=/pets >> xpath=//a",
        &expect![[r#"
            {"engine":"text","text":{"text":"/pets"}}
            {"engine":"xpath","expression":"//a"}"#]],
    );
    steps(
        r#"role=button[name="Go"][checked=mixed][disabled=false][level=2] >> role=img[name*="a.b"i]"#,
        &expect![[r#"
            {"engine":"role","role":"button","name":{"text":"Go","exact":true},"checked":"mixed","disabled":false,"level":2}
            {"engine":"role","role":"img","name":{"regex":"a\\.b","flags":"i"}}"#]],
    );
    steps(
        "*css=li >> b",
        &expect![[r#"
            {"engine":"css","css":"li","native":true,"list":[[{"css":"li"}]]}
            {"engine":"has","selector":[{"engine":"css","css":"b","native":true,"list":[[{"css":"b"}]]}]}"#]],
    );
    steps(
        "page.getByRole('button', { pressed: 'mixed', name: /a b/i, }).filter({ hasText: \"x\", hasNot: page.getByTestId('t') }).nth(-2)",
        &expect![[r#"
            {"engine":"role","role":"button","name":{"regex":"a b","flags":"i"},"pressed":"mixed"}
            {"engine":"hasText","text":{"text":"x"}}
            {"engine":"has","selector":[{"engine":"testId","attribute":"data-testid","text":{"text":"t","exact":true}}],"not":true}
            {"engine":"nth","index":-2}"#]],
    );
    steps(
        r#"internal:role=button[name="Go"i] >> internal:has-text="x"i >> internal:has="b >> nth=0""#,
        &expect![[r#"
            {"engine":"role","role":"button","name":{"text":"Go"}}
            {"engine":"hasText","text":{"text":"x"}}
            {"engine":"has","selector":[{"engine":"css","css":"b","native":true,"list":[[{"css":"b"}]]},{"engine":"nth","index":0}]}"#]],
    );
}

#[test]
fn the_test_id_attribute_is_a_setting() {
    let selector = Selector::parse("getByTestId('go')", "data-qa").unwrap();
    let step = selector.steps().next();
    assert!(matches!(step, Some(Step::TestId { attribute, .. }) if attribute == "data-qa"));
}

#[test]
fn frames_cut_a_selector_into_segments() {
    let selector = parsed("frameLocator('#a').locator('iframe').contentFrame().getByText('x')");
    let shown: Vec<String> = selector
        .segments()
        .iter()
        .map(Selector::to_string)
        .collect();
    assert_eq!(
        shown,
        ["locator('#a')", "locator('iframe')", "getByText('x')"]
    );
    assert_eq!(parsed("frameLocator('#a').owner()").segments().len(), 1);
}

#[test]
fn a_selector_is_printed_as_given() {
    shown("#x", "locator('#x')");
    shown("css=h1", "locator('h1')");
    shown("text=Apple", "locator('text=Apple')");
    shown("'Apple'", r"locator('text=\'Apple\'')");
    shown("xpath=//h1", "locator('//h1')");
    shown("h1 >> ..", "locator('h1').locator('..')");
    shown("role=button >> nth=0", "locator('role=button').first()");
    shown("ul >> li >> nth=1", "locator('ul').locator('li').nth(1)");
    shown("id=z", "locator('id=z')");
    shown(
        "button >> visible=true >> nth=1",
        "locator('button').visible().nth(1)",
    );
    shown("internal:role=heading", "getByRole('heading')");
    shown(
        r#"internal:attr=[id="z"]"#,
        r#"locator('internal:attr=[id="z"s]')"#,
    );
    shown(
        "iframe >> internal:control=enter-frame >> button",
        "locator('iframe').contentFrame().locator('button')",
    );
}

#[test]
fn locator_expressions_are_printed_canonically() {
    shown("page.getByText(\"It's\")", r"getByText('It\'s')");
    shown("await page.locator( `#z` ) ;", "locator('#z')");
    shown(
        "getByRole('button',{exact:true,name:'Go'}).first",
        "getByRole('button', { name: 'Go', exact: true }).first()",
    );
    shown("getByRole(AriaRole.HEADING)", "getByRole('heading')");
    shown(
        "locator('li', { hasText: 'Pear' })",
        "locator('li').filter({ hasText: 'Pear' })",
    );
    shown("locator('li').nth(0)", "locator('li').first()");
    shown(
        "getByRole('listitem').and(page.getByText('Apple'))",
        "getByRole('listitem').and(getByText('Apple'))",
    );
    shown("getByText('a').describe('the a')", "getByText('a')");
    shown(
        "locator('li').locator(page.locator('b'))",
        "locator('li').locator('b')",
    );
    shown(
        "getByText('\\u{1F600}\\x41\\ud83d\\ude00')",
        "getByText('😀A😀')",
    );
    shown("getByLabel('a\\nb\\tc')", "getByLabel('a\\nb\\tc')");
}

#[test]
fn errors_have_a_position_and_a_suggestion() {
    error(
        "  ",
        &expect![
            "the selector is empty: give a ref such as e5, a CSS selector, or a locator such as getByRole('button')"
        ],
    );
    error(
        "li[",
        &expect![[
            r#"Unexpected token "" while parsing css selector "li[", at 4: expected an attribute name. Did you mean to CSS.escape it?"#
        ]],
    );
    error(
        "a[href=/x]",
        &expect![[
            r#"Unexpected token "/" while parsing css selector "a[href=/x]", at 8: expected a value; one that is not a plain word needs quotes. Did you mean to CSS.escape it?"#
        ]],
    );
    error(
        "foo(bar",
        &expect![[
            r#"Unexpected token "(" while parsing css selector "foo(bar", at 4: expected a combinator, `,` or the end. Did you mean to CSS.escape it?"#
        ]],
    );
    error(
        "x#a:hover(",
        &expect![[
            r#"Unexpected token "" while parsing css selector "x#a:hover(", at 11: expected `)`. Did you mean to CSS.escape it?"#
        ]],
    );
    error(
        ".1a",
        &expect![[
            r#"Unexpected token "1" while parsing css selector ".1a", at 2: expected a class name. Did you mean to CSS.escape it?"#
        ]],
    );
    error(
        "h1 >>",
        &expect![[
            r#"Unexpected token "" while parsing css selector "h1 >>", at 6: expected a selector on both sides of `>>`."#
        ]],
    );
    error(
        "left=x",
        &expect![[
            r#"Unknown engine "left" while parsing selector "left=x". Known are css, xpath, text, role, id, data-testid, nth, visible; a CSS attribute selector is written [left="…"]."#
        ]],
    );
    error(
        "li >> nth=x",
        &expect![[
            r#"Cannot read "x" as the body of nth=, at 1: expected a whole number: 0 is the first, -1 the last."#
        ]],
    );
    error(
        "role=button[name=",
        &expect![[r#"Cannot read "button[name=" as the body of role=, at 13: expected `]`."#]],
    );
    error(
        "role=button[named]",
        &expect![[
            r#"Cannot read "button[named]" as the body of role=, at 7: expected one of [name], [description], [checked], [disabled], [expanded], [include-hidden], [level], [pressed], [selected]."#
        ]],
    );
    error(
        "getByRole(",
        &expect!["Unexpected end at 11 of the locator `getByRole(`: expected a string in quotes."],
    );
    error(
        "getByRole('a', { nam: 'x' })",
        &expect![
            "Unexpected `nam` at 18 of the locator `getByRole('a', { nam: 'x' })`: expected name, exact, description, checked, disabled, expanded, includeHidden, level, pressed or selected."
        ],
    );
    error(
        "getByText('x').click()",
        &expect![
            "Unexpected `click` at 16 of the locator `getByText('x').click()`: expected one of locator, getByRole, getByText, getByLabel, getByPlaceholder, getByAltText, getByTitle, getByTestId, filter, first, last, nth, and, or, visible, frameLocator, contentFrame, owner, describe."
        ],
    );
    error(
        "getByText('x",
        &expect!["Unexpected end at 13 of the locator `getByText('x`: expected the closing '."],
    );
}

#[test]
fn nesting_depth_is_limited() {
    let deep = format!("{}a{}", ":is(".repeat(5000), ")".repeat(5000));
    assert!(Selector::parse(&deep, "data-testid").is_err());
    let deep = format!(
        "{}getByText('a'{}",
        "getByText('a').and(".repeat(5000),
        ")".repeat(5001)
    );
    assert!(Selector::parse(&deep, "data-testid").is_err());
}

fn text_match() -> impl Strategy<Value = TextMatch> {
    prop_oneof![
        (any::<String>(), any::<bool>())
            .prop_map(|(text, exact)| TextMatch::Literal { text, exact }),
        ("[a-z.^$()+]{1,8}", "[im]?").prop_map(|(regex, flags)| TextMatch::Regex { regex, flags }),
    ]
}

fn loose(text: TextMatch) -> TextMatch {
    match text {
        TextMatch::Literal { text, .. } => TextMatch::containing(text),
        regex => regex,
    }
}

fn step() -> impl Strategy<Value = Step> {
    let name = prop::option::of(text_match());
    let role = (
        name,
        prop::option::of(any::<bool>()),
        prop::option::of(1..7_u32),
        any::<bool>(),
    );
    prop_oneof![
        role.prop_map(|(name, checked, level, include_hidden)| Step::Role(Role {
            role: "button".into(),
            name,
            checked: checked.map(Tristate::Is),
            level,
            include_hidden,
            ..Role::default()
        })),
        text_match().prop_map(|text| Step::Text { text, nodes: false }),
        text_match().prop_map(|text| Step::Label { text }),
        text_match().prop_map(|text| Step::Attribute {
            name: "title".into(),
            text
        }),
        (-5..5_i32).prop_map(|index| Step::Nth { index }),
        any::<bool>().prop_map(|visible| Step::Visible { visible }),
        (text_match(), any::<bool>()).prop_map(|(text, not)| Step::HasText {
            text: loose(text),
            not
        }),
        Just(Step::EnterFrame),
        "[a-z]{1,5}".prop_map(|css| Step::Css(css::Css::parse(&css).unwrap())),
    ]
}

proptest! {
    #[test]
    fn no_text_makes_the_parser_panic(text in ".{0,60}") {
        let _ = Target::parse(&text, "data-testid");
    }

    #[test]
    fn no_text_of_selector_tokens_makes_the_parser_panic(
        tokens in prop::collection::vec(
            prop::sample::select(vec![
                "a", "#x", ".y", "[", "]", "(", ")", "=", "\"", "'", "`", " ", ">>", ">", ",", ":", "/", "\\",
                "*", "text=", "role=", "xpath=", "nth=", "internal:has=", ":has-text(", ":nth-match(", ":near(", ":is(",
                "getByRole(", ".filter({", "})", "hasText:", "locator(", "page.", "é", "e5", "[ref=e5]", "button",
                "get_by_role(", "GetByText(", "new ", "re.compile(", "Regex(", "r\"", "@\"", "=", "name", "1", "u{", "|", "/*",
            ]),
            0..24,
        )
    ) {
        let _ = Target::parse(&tokens.concat(), "data-testid");
    }

    #[test]
    fn printed_locators_round_trip(
        first in step().prop_filter("a start", |s| !matches!(
            s,
            Step::Nth { .. } | Step::Visible { .. } | Step::HasText { .. } | Step::EnterFrame
        )),
        rest in prop::collection::vec(step(), 0..4),
    ) {
        let selector = Selector::from([vec![first], rest].concat());
        let shown = selector.to_string();
        let again = Selector::parse(&shown, "data-testid");
        prop_assert_eq!(again.as_ref(), Ok(&selector), "{}", shown);
        let json = serde_json::to_string(&selector).unwrap();
        prop_assert_eq!(serde_json::from_str::<Selector>(&json).unwrap(), selector);
    }
}
