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
    // Agents use what is printed as targets.
    for shown in &shown {
        assert_eq!(
            selector(shown),
            selector(&selector(text).to_string()),
            "{shown}"
        );
    }
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
            page.locator("#z").dblclick(new Locator.DblclickOptions()
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

fn statement(statement: &Statement, expected: &Expect) {
    assert_eq!(statement.code(Language::Typescript), None);
    let lines = LANGUAGES[1..]
        .iter()
        .map(|language| statement.code(*language).unwrap());
    expected.assert_eq(&lines.collect::<Vec<_>>().join("\n"));
}

#[test]
fn statements_in_each_language() {
    let choice = |class, value: &str| {
        let value = value.to_owned();
        Some(Argument::Choice { class, value })
    };
    let mouse = Statement::new(Receiver::Mouse, "click")
        .argument(1.5)
        .argument(2.0)
        .option("button", choice("MouseButton", "right"))
        .option("clickCount", Some(2.0));
    statement(
        &mouse,
        &expect![[r##"
            page.mouse.click(1.5, 2, button="right", click_count=2)
            page.mouse().click(1.5, 2, new Mouse.ClickOptions().setButton(MouseButton.RIGHT).setClickCount(2));
            await page.Mouse.ClickAsync(1.5f, 2, new() { Button = MouseButton.Right, ClickCount = 2 });"##]],
    );
    let keys = Statement::new(Receiver::Element(selector("#a")), "pressSequentially")
        .argument(&Typed::Variable("PIN".to_owned()));
    statement(
        &keys,
        &expect![[r##"
            page.locator("#a").press_sequentially(os.environ["PIN"])
            page.locator("#a").pressSequentially(System.getenv("PIN"));
            await page.Locator("#a").PressSequentiallyAsync(Environment.GetEnvironmentVariable("PIN"));"##]],
    );
    let drag =
        Statement::new(Receiver::Element(selector("#a")), "dragTo").argument(&selector("#b"));
    statement(
        &drag,
        &expect![[r##"
            page.locator("#a").drag_to(page.locator("#b"))
            page.locator("#a").dragTo(page.locator("#b"));
            await page.Locator("#a").DragToAsync(page.Locator("#b"));"##]],
    );
    let back = Statement::new(Receiver::Page, "goBack");
    statement(
        &back,
        &expect![[r##"
            page.go_back()
            page.goBack();
            await page.GoBackAsync();"##]],
    );
    let size = Statement::new(Receiver::Page, "setViewportSize").argument(Argument::Size(800, 600));
    statement(
        &size,
        &expect![[r##"
            page.set_viewport_size({"width": 800, "height": 600})
            page.setViewportSize(800, 600);
            await page.SetViewportSizeAsync(800, 600);"##]],
    );
    let press = Statement::new(Receiver::Keyboard, "press").argument("\"");
    statement(
        &press,
        &expect![[r##"
            page.keyboard.press("\"")
            page.keyboard().press("\"");
            await page.Keyboard.PressAsync("\"");"##]],
    );
    let offline = Statement::new(Receiver::Context, "setOffline").argument(true);
    statement(
        &offline,
        &expect![[r##"
            page.context.set_offline(True)
            page.context().setOffline(true);
            await page.Context.SetOfflineAsync(true);"##]],
    );
    let wait = Statement::new(
        Receiver::Element(selector("getByText('a').first()")),
        "waitFor",
    )
    .option("state", choice("WaitForSelectorState", "hidden"));
    statement(
        &wait,
        &expect![[r##"
            page.get_by_text("a").first.wait_for(state="hidden")
            page.getByText("a").first().waitFor(new Locator.WaitForOptions().setState(WaitForSelectorState.HIDDEN));
            await page.GetByText("a").First.WaitForAsync(new() { State = WaitForSelectorState.Hidden });"##]],
    );
    let media = Statement::new(Receiver::Page, "emulateMedia")
        .option("reducedMotion", choice("ReducedMotion", "no-preference"))
        .option("colorScheme", choice("ColorScheme", "null"));
    statement(
        &media,
        &expect![[r##"
            page.emulate_media(reduced_motion="no-preference", color_scheme="null")
            page.emulateMedia(new Page.EmulateMediaOptions().setReducedMotion(ReducedMotion.NO_PREFERENCE).setColorScheme(null));
            await page.EmulateMediaAsync(new() { ReducedMotion = ReducedMotion.NoPreference, ColorScheme = ColorScheme.Null });"##]],
    );
    let paths = vec!["a.txt".to_owned(), "b".to_owned()];
    let files = Statement::new(Receiver::FileChooser, "setFiles").argument(Argument::Paths(paths));
    statement(
        &files,
        &expect![[r##"
            file_chooser.set_files(["a.txt", "b"])
            fileChooser.setFiles(new Path[] {Paths.get("a.txt"), Paths.get("b")});
            await fileChooser.SetFilesAsync(new[] { "a.txt", "b" });"##]],
    );
    let shot = Statement::new(Receiver::Page, "screenshot")
        .option("path", Some(Argument::Path("a.png".to_owned())))
        .option("type", choice("ScreenshotType", "png"));
    statement(
        &shot,
        &expect![[r##"
            page.screenshot(path="a.png", type="png")
            page.screenshot(new Page.ScreenshotOptions().setPath(Paths.get("a.png")).setType(ScreenshotType.PNG));
            await page.ScreenshotAsync(new() { Path = "a.png", Type = ScreenshotType.Png });"##]],
    );
    let fields = vec![
        ("httpOnly", true.into()),
        ("sameSite", choice("SameSiteAttribute", "Lax").unwrap()),
    ];
    let cookie = Statement::new(Receiver::Context, "addCookies").argument(Argument::Cookie(
        "c".to_owned(),
        "it's".to_owned(),
        fields,
    ));
    statement(
        &cookie,
        &expect![[r##"
            page.context.add_cookies([{"name": "c", "value": "it's", "httpOnly": True, "sameSite": "Lax"}])
            page.context().addCookies(Arrays.asList(new Cookie("c", "it's").setHttpOnly(true).setSameSite(SameSiteAttribute.LAX)));
            await page.Context.AddCookiesAsync(new[] { new Cookie { Name = "c", Value = "it's", HttpOnly = true, SameSite = SameSiteAttribute.Lax } });"##]],
    );
    let route = Statement::new(Receiver::Context, "route")
        .argument("**/x")
        .argument(Argument::RouteHandler);
    statement(
        &route,
        &expect![[r##"
            page.context.route("**/x", lambda route: route.continue_())
            page.context().route("**/x", route -> route.resume());
            await page.Context.RouteAsync("**/x", route => route.ContinueAsync());"##]],
    );
    let clear = Statement::new(Receiver::Context, "clearCookies").option("name", Some("c"));
    statement(
        &clear,
        &expect![[r##"
            page.context.clear_cookies(name="c")
            page.context().clearCookies(new BrowserContext.ClearCookiesOptions().setName("c"));
            await page.Context.ClearCookiesAsync(new() { Name = "c" });"##]],
    );
}
