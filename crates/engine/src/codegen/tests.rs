use super::*;
use expect_test::{Expect, expect};

const LANGUAGES: [Language; 4] = [
    Language::Typescript,
    Language::Python,
    Language::Java,
    Language::Csharp,
];

fn selector(text: &str) -> Selector {
    Selector::parse(text, "data-testid").unwrap()
}

fn locators(text: &str, expected: &Expect) {
    let shown = LANGUAGES.map(|language| locator(&selector(text), language));
    expected.assert_eq(&shown.join("\n"));
}

fn code(action: &Action, expected: &Expect) {
    assert_eq!(action.code(Language::None), None);
    let lines = LANGUAGES.map(|language| action.code(language).unwrap());
    expected.assert_eq(&lines.join("\n"));
}

#[test]
fn a_locator_in_each_language() {
    locators(
        "getByRole('checkbox', { name: /c \\d\"x'/i, checked: true, includeHidden: true })",
        &expect![[r#"
            getByRole('checkbox', { name: /c \d"x'/i, checked: true, includeHidden: true })
            get_by_role("checkbox", name=re.compile(r"c \d\"x'", re.IGNORECASE), checked=True, include_hidden=True)
            getByRole(AriaRole.CHECKBOX, new Page.GetByRoleOptions().setName(Pattern.compile("c \\d\"x'", Pattern.CASE_INSENSITIVE)).setChecked(true).setIncludeHidden(true))
            GetByRole(AriaRole.Checkbox, new() { NameRegex = new Regex("c \\d\"x'", RegexOptions.IgnoreCase), Checked = true, IncludeHidden = true })"#]],
    );
    locators(
        "getByText('It\\'s \"x\"', { exact: true })",
        &expect![[r#"
        getByText('It\'s "x"', { exact: true })
        get_by_text("It's \"x\"", exact=True)
        getByText("It's \"x\"", new Page.GetByTextOptions().setExact(true))
        GetByText("It's \"x\"", new() { Exact = true })"#]],
    );
    locators(
        "#u >> internal:role=listitem[name=\"lab\"i]",
        &expect![[r##"
        locator('#u').getByRole('listitem', { name: 'lab' })
        locator("#u").get_by_role("listitem", name="lab")
        locator("#u").getByRole(AriaRole.LISTITEM, new Locator.GetByRoleOptions().setName("lab"))
        Locator("#u").GetByRole(AriaRole.Listitem, new() { Name = "lab" })"##]],
    );
    locators(
        "frameLocator('iframe').getByTitle('ti', { exact: true }).first()",
        &expect![[r#"
            locator('iframe').contentFrame().getByTitle('ti', { exact: true }).first()
            locator("iframe").content_frame.get_by_title("ti", exact=True).first
            locator("iframe").contentFrame().getByTitle("ti", new FrameLocator.GetByTitleOptions().setExact(true)).first()
            Locator("iframe").ContentFrame.GetByTitle("ti", new() { Exact = true }).First"#]],
    );
    locators(
        "getByRole('listitem').and(locator('li', { hasText: /P/ims })).or(getByTestId('t')).last()",
        &expect![[r#"
            getByRole('listitem').and(locator('li').filter({ hasText: /P/ims })).or(getByTestId('t')).last()
            get_by_role("listitem").and_(locator("li").filter(has_text=re.compile(r"P", re.IGNORECASE | re.MULTILINE | re.DOTALL))).or_(get_by_test_id("t")).last
            getByRole(AriaRole.LISTITEM).and(locator("li").filter(new Locator.FilterOptions().setHasText(Pattern.compile("P", Pattern.CASE_INSENSITIVE | Pattern.MULTILINE | Pattern.DOTALL)))).or(getByTestId("t")).last()
            GetByRole(AriaRole.Listitem).And(Locator("li").Filter(new() { HasTextRegex = new Regex("P", RegexOptions.IgnoreCase | RegexOptions.Multiline | RegexOptions.Singleline) })).Or(GetByTestId("t")).Last"#]],
    );
    locators(
        "locator('li').filter({ hasNotText: 'A', hasNot: locator('b') }).visible().nth(2)",
        &expect![[r#"
            locator('li').filter({ hasNotText: 'A' }).filter({ hasNot: locator('b') }).visible().nth(2)
            locator("li").filter(has_not_text="A").filter(has_not=locator("b")).visible.nth(2)
            locator("li").filter(new Locator.FilterOptions().setHasNotText("A")).filter(new Locator.FilterOptions().setHasNot(locator("b"))).visible().nth(2)
            Locator("li").Filter(new() { HasNotText = "A" }).Filter(new() { HasNot = Locator("b") }).Visible.Nth(2)"#]],
    );
    locators(
        "text=/a\\/b/ >> ..",
        &expect![[r#"
        locator('text=/a\\/b/').locator('..')
        locator("text=/a\\/b/").locator("..")
        locator("text=/a\\/b/").locator("..")
        Locator("text=/a\\/b/").Locator("..")"#]],
    );
}

#[test]
fn an_action_in_each_language() {
    let z = || selector("#z");
    code(
        &Action::Goto {
            url: "http://x/?q='\"".into(),
        },
        &expect![[r#"
            await page.goto('http://x/?q=\'"');
            page.goto("http://x/?q='\"")
            page.navigate("http://x/?q='\"");
            await page.GotoAsync("http://x/?q='\"");"#]],
    );
    code(
        &Action::click(z()),
        &expect![[r##"
        await page.locator('#z').click();
        page.locator("#z").click()
        page.locator("#z").click();
        await page.Locator("#z").ClickAsync();"##]],
    );
    code(
        &Action::Click {
            locator: z(),
            button: Some(MouseButton::Right),
            modifiers: vec![Modifier::Shift, Modifier::Control, Modifier::Alt],
            count: 2,
            position: Some((1.0, 2.5)),
        },
        &expect![[r##"
            await page.locator('#z').dblclick({
              button: 'right',
              modifiers: ['Alt', 'ControlOrMeta', 'Shift'],
              position: {
              x: 1,
              y: 2.5
            }
            });
            page.locator("#z").dblclick(button="right", modifiers=["Alt", "ControlOrMeta", "Shift"], position={"x": 1, "y": 2.5})
            page.locator("#z").dblclick(new Locator.ClickOptions()
              .setButton(MouseButton.RIGHT)
              .setModifiers(Arrays.asList(KeyboardModifier.ALT, KeyboardModifier.CONTROLORMETA, KeyboardModifier.SHIFT))
              .setPosition(1, 2.5));
            await page.Locator("#z").DblClickAsync(new()
            {
                Button = MouseButton.Right,
                Modifiers = new[] { KeyboardModifier.Alt, KeyboardModifier.ControlOrMeta, KeyboardModifier.Shift },
                Position = new() { X = 1, Y = 2.5 },
            });"##]],
    );
    code(
        &Action::Fill {
            locator: z(),
            value: Typed::Text("O'B\"r\\i\nen".into()),
        },
        &expect![[r##"
            await page.locator('#z').fill('O\'B"r\\i\nen');
            page.locator("#z").fill("O'B\"r\\i\nen")
            page.locator("#z").fill("O'B\"r\\i\nen");
            await page.Locator("#z").FillAsync("O'B\"r\\i\nen");"##]],
    );
    code(
        &Action::Press {
            locator: z(),
            key: "Enter".into(),
        },
        &expect![[r##"
            await page.locator('#z').press('Enter');
            page.locator("#z").press("Enter")
            page.locator("#z").press("Enter");
            await page.Locator("#z").PressAsync("Enter");"##]],
    );
    code(
        &Action::SetChecked {
            locator: z(),
            checked: false,
        },
        &expect![[r##"
            await page.locator('#z').uncheck();
            page.locator("#z").uncheck()
            page.locator("#z").uncheck();
            await page.Locator("#z").UncheckAsync();"##]],
    );
    code(
        &Action::SelectOption {
            locator: z(),
            values: vec!["A".into()],
        },
        &expect![[r##"
            await page.locator('#z').selectOption('A');
            page.locator("#z").select_option("A")
            page.locator("#z").selectOption("A");
            await page.Locator("#z").SelectOptionAsync(new[] { "A" });"##]],
    );
    code(
        &Action::SelectOption {
            locator: z(),
            values: vec!["A".into(), "B".into()],
        },
        &expect![[r##"
            await page.locator('#z').selectOption(['A', 'B']);
            page.locator("#z").select_option(["A", "B"])
            page.locator("#z").selectOption(new String[] {"A", "B"});
            await page.Locator("#z").SelectOptionAsync(new[] { "A", "B" });"##]],
    );
    code(
        &Action::SetInputFiles {
            locator: z(),
            files: vec!["a.txt".into(), "b".into()],
        },
        &expect![[r##"
            await page.locator('#z').setInputFiles(['a.txt', 'b']);
            page.locator("#z").set_input_files(["a.txt", "b"])
            page.locator("#z").setInputFiles(new Path[] {Paths.get("a.txt"), Paths.get("b")});
            await page.Locator("#z").SetInputFilesAsync(new[] { "a.txt", "b" });"##]],
    );
    code(
        &Action::ExpectVisible { locator: z() },
        &expect![[r##"
        await expect(page.locator('#z')).toBeVisible();
        expect(page.locator("#z")).to_be_visible()
        assertThat(page.locator("#z")).isVisible();
        await Expect(page.Locator("#z")).ToBeVisibleAsync();"##]],
    );
    code(
        &Action::ExpectValue {
            locator: z(),
            value: "3".into(),
        },
        &expect![[r##"
            await expect(page.locator('#z')).toHaveValue('3');
            expect(page.locator("#z")).to_have_value("3")
            assertThat(page.locator("#z")).hasValue("3");
            await Expect(page.Locator("#z")).ToHaveValueAsync("3");"##]],
    );
    code(
        &Action::ExpectSnapshot {
            locator: z(),
            snapshot: "- list:\n  - listitem: \"`\"".into(),
        },
        &expect![[r##"
            await expect(page.locator('#z')).toMatchAriaSnapshot(`
              - list:
                - listitem: "\`"
              `);
            expect(page.locator("#z")).to_match_aria_snapshot("- list:\n  - listitem: \"`\"")
            assertThat(page.locator("#z")).matchesAriaSnapshot("- list:\n  - listitem: \"`\"");
            await Expect(page.Locator("#z")).ToMatchAriaSnapshotAsync("- list:\n  - listitem: \"`\"");"##]],
    );
    code(
        &Action::ExpectChecked {
            locator: z(),
            checked: false,
        },
        &expect![[r##"
            await expect(page.locator('#z')).not.toBeChecked();
            expect(page.locator("#z")).not_to_be_checked()
            assertThat(page.locator("#z")).not().isChecked();
            await Expect(page.Locator("#z")).Not.ToBeCheckedAsync();"##]],
    );
}

#[test]
fn the_default_button_is_omitted() {
    let click = Action::Click {
        locator: selector("#z"),
        button: Some(MouseButton::Left),
        modifiers: vec![],
        count: 1,
        position: None,
    };
    assert_eq!(
        click.code(Language::Typescript).unwrap(),
        "await page.locator('#z').click();"
    );
}

#[test]
fn code_of_the_client_stays_javascript() {
    use javascript::{
        Options, call, drag_to, drop_onto, evaluate, press_sequentially, wait_for_text,
    };
    let z = selector("#z");
    let lines = [
        drag_to(&z, &selector("h1")),
        drop_onto(&z, &[], [("text/plain".to_owned(), "x".to_owned())]),
        drop_onto(&z, &["/a b".into()], []),
        drop_onto(
            &z,
            &["/a".into(), "/b".into()],
            [("a".to_owned(), "1".to_owned())],
        ),
        press_sequentially(&z, &Typed::Text("it's".into())),
        press_sequentially(&z, &Typed::Variable("KEY".into())),
        evaluate(Some(&z), "(el) => el.tagName"),
        evaluate(None, "() => `a\n'b'`"),
        wait_for_text("it's \"x\"", false),
        call(
            &Selector::default(),
            "screenshot",
            [],
            Options::default()
                .with("type", "jpeg")
                .with_some("quality", Some(90.0))
                .with("fullPage", true)
                .with_some("clip", None::<&str>),
        ),
    ];
    expect![[r#"
        await page.locator('#z').dragTo(page.locator('h1'));
        await page.locator('#z').drop({
          data: {
          text/plain: 'x'
        }
        });
        await page.locator('#z').drop({
          files: '/a b'
        });
        await page.locator('#z').drop({
          data: {
          a: '1'
        },
          files: ['/a', '/b']
        });
        await page.locator('#z').pressSequentially('it\'s');
        await page.locator('#z').pressSequentially(process.env['KEY']);
        await page.locator('#z').evaluate('(el) => el.tagName');
        await page.evaluate('() => `a\n\'b\'`');
        await page.getByText("it's \"x\"").first().waitFor({ state: 'hidden' });
        await page.screenshot({
          fullPage: true,
          quality: 90,
          type: 'jpeg'
        });"#]]
    .assert_eq(&lines.join("\n"));
}

#[test]
fn languages_have_the_names_of_the_option() {
    for (name, language) in [
        ("typescript", Language::Typescript),
        ("python", Language::Python),
        ("java", Language::Java),
        ("csharp", Language::Csharp),
        ("none", Language::None),
    ] {
        assert_eq!(name.parse(), Ok(language));
        assert_eq!(serde_json::to_value(language).unwrap(), name);
    }
    assert_eq!(Language::Typescript.fence(), Some("js"));
    assert_eq!(Language::Csharp.fence(), Some("csharp"));
    assert_eq!(Language::None.fence(), None);
}
