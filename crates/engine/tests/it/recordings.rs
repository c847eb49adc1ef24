//! The recording of the user's own actions. The input is sent below the engine's actions, as that of a user.

use crate::harness::{click, eval, frame_at, on_a_page, soon, wait_until_drawn};
use engine::Recorded;
use engine::codegen::{Language, Typed};
use expect_test::{Expect, expect};
use testkit::{Engine, eventually};

/// A page whose controls have fixed places.
const FORM: &str = r#"<!doctype html><title>Form</title><style>
  * { margin: 0; box-sizing: border-box; font: 16px/20px monospace }
  body > * { position: absolute; left: 0; width: 200px; height: 30px }
</style>
<button style="top: 0" onclick="this.dataset.done = 1">Go</button>
<input aria-label=Name style="top: 40px">
<input aria-label=Password type=password style="top: 80px">
<label style="top: 120px"><input type=checkbox style="width: 20px"> Agree</label>
<p style="top: 160px">Text</p>
<textarea aria-label=Notes style="top: 200px"></textarea>
<a href="/next" style="top: 240px">Next</a>
<a href="/next" target=_blank style="top: 280px">Popup</a>
<form style="top: 320px" action="javascript:void 0"><input aria-label=Search style="width: 100px"><button style="width: 60px">Find</button></form>
<select aria-label=Size style="top: 360px" size=2><option>S<option>M</select>"#;

fn check(recorded: &Recorded, expected: &Expect) {
    let lines = recorded.code(Language::Typescript).join("\n");
    expected.assert_eq(&lines);
}

#[testkit::test(chromium, firefox, webkit, nightly(firefox, webkit))]
fn what_a_user_does_with_controls_is_recorded(engine: Engine) {
    on_a_page(engine, async |stage| {
        stage.show("/", FORM).await;
        let page = &stage.page;
        let recording = stage.context.record(&soon()).await.unwrap();
        for top in [15.0, 55.0] {
            click(page, 15.0, top).await.unwrap();
        }
        page.type_text(&soon(), "Ada!", std::time::Duration::ZERO)
            .await
            .unwrap();
        page.press(&soon(), "Tab").await.unwrap();
        page.type_text(&soon(), "geheim", std::time::Duration::ZERO)
            .await
            .unwrap();
        // The text of a label: the checkbox gets a click of its own.
        click(page, 60.0, 135.0).await.unwrap();
        click(page, 15.0, 215.0).await.unwrap();
        page.type_text(&soon(), "a", std::time::Duration::ZERO)
            .await
            .unwrap();
        page.press(&soon(), "Enter").await.unwrap();
        click(page, 15.0, 335.0).await.unwrap();
        // The button of the form gets a click of the key.
        page.press(&soon(), "Enter").await.unwrap();
        let recorded = recording.stop(&stage.context).await;
        check(
            &recorded,
            &expect![[r#"
                await page.getByRole('button', { name: 'Go' }).click();
                await page.getByRole('textbox', { name: 'Name' }).click();
                await page.getByRole('textbox', { name: 'Name' }).fill('Ada!');
                await page.getByRole('textbox', { name: 'Name' }).press('Tab');
                await page.getByRole('textbox', { name: 'Password' }).fill(process.env['PASSWORD']);
                await page.getByRole('checkbox', { name: 'Agree' }).check();
                await page.getByRole('textbox', { name: 'Notes' }).click();
                await page.getByRole('textbox', { name: 'Notes' }).fill('a\n');
                await page.getByRole('textbox', { name: 'Search' }).click();
                await page.getByRole('textbox', { name: 'Search' }).press('Enter');"#]],
        );
    });
}

#[testkit::test(chromium, firefox, webkit, nightly(firefox, webkit))]
fn a_recording_survives_navigations(engine: Engine) {
    on_a_page(engine, async |stage| {
        let next = stage.site.add_page(
            "/next",
            "<title>Next</title><button style='position: fixed; inset: 0'>Reply</button>",
        );
        stage.show("/", FORM).await;
        let page = &stage.page;
        let recording = stage.context.record(&soon()).await.unwrap();
        click(page, 15.0, 255.0).await.unwrap();
        wait_until_drawn(page, &frame_at(page, &next).await).await;
        recording.prepare(&soon(), page).await.unwrap();
        click(page, 15.0, 15.0).await.unwrap();
        let recorded = recording.stop(&stage.context).await;
        check(
            &recorded,
            &expect![[r#"
                await page.getByRole('link', { name: 'Next' }).click();
                await page.getByRole('button', { name: 'Reply' }).click();"#]],
        );
        // After the end, nothing is recorded.
        click(page, 15.0, 15.0).await.unwrap();
        let recording = stage.context.record(&soon()).await.unwrap();
        assert!(recording.stop(&stage.context).await.is_empty());
    });
}

#[testkit::test(chromium, firefox, webkit, nightly(firefox, webkit))]
fn an_address_that_the_user_enters_is_recorded(engine: Engine) {
    on_a_page(engine, async |stage| {
        stage.show("/", FORM).await;
        let recording = stage.context.record(&soon()).await.unwrap();
        let other = stage
            .show("/other", "<title>Other</title><button>Reply</button>")
            .await;
        eventually(async || !recording.recorded().is_empty()).await;
        let recorded = recording.stop(&stage.context).await;
        let lines = recorded.code(Language::Typescript);
        assert_eq!(lines, [format!("await page.goto('{other}');")]);
    });
}

#[testkit::test(chromium, firefox, webkit)]
fn actions_in_frames_have_the_locators_of_their_frames(engine: Engine) {
    on_a_page(engine, async |stage| {
        let inner = stage.site.add_page(
            "/inner",
            "<button style='position: fixed; inset: 0'>Inside</button>",
        );
        stage
            .show(
                "/",
                "<iframe title=Frame src=/inner style='position: fixed; left: 0; top: 0; border: 0'></iframe>",
            )
            .await;
        let page = &stage.page;
        let frame = frame_at(page, &inner).await;
        wait_until_drawn(page, &frame).await;
        let recording = stage.context.record(&soon()).await.unwrap();
        click(page, 40.0, 40.0).await.unwrap();
        let recorded = recording.stop(&stage.context).await;
        check(
            &recorded,
            &expect![[
                r#"await page.locator('iframe[title="Frame"]').contentFrame().getByRole('button', { name: 'Inside' }).click();"#
            ]],
        );
    });
}

#[testkit::test(
    chromium,
    firefox,
    not(webkit = "WebKit does not report the opener of a page"),
    nightly(firefox)
)]
fn a_popup_is_recorded_with_its_cause_in_each_language(engine: Engine) {
    on_a_page(engine, async |stage| {
        let next = stage.site.add_page(
            "/next",
            "<title>Next</title><button style='position: fixed; inset: 0'>Reply</button>",
        );
        stage.show("/", FORM).await;
        let recording = stage.context.record(&soon()).await.unwrap();
        let popup = stage
            .popup(async { click(&stage.page, 15.0, 295.0).await.unwrap() })
            .await;
        wait_until_drawn(&popup, &frame_at(&popup, &next).await).await;
        recording.prepare(&soon(), &popup).await.unwrap();
        popup.activate(&soon()).await.unwrap();
        click(&popup, 15.0, 15.0).await.unwrap();
        let recorded = recording.stop(&stage.context).await;
        let languages = [
            Language::Typescript,
            Language::Python,
            Language::Java,
            Language::Csharp,
        ];
        let shown = languages.map(|language| recorded.code(language).join("\n"));
        expect![[r#"
            const page1Promise = page.waitForEvent('popup');
            await page.getByRole('link', { name: 'Popup' }).click();
            const page1 = await page1Promise;
            await page1.getByRole('button', { name: 'Reply' }).click();
            with page.expect_popup() as page1_info:
                page.get_by_role("link", name="Popup").click()
            page1 = page1_info.value
            page1.get_by_role("button", name="Reply").click()
            Page page1 = page.waitForPopup(() -> {
              page.getByRole(AriaRole.LINK, new Page.GetByRoleOptions().setName("Popup")).click();
            });
            page1.getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName("Reply")).click();
            var page1 = await page.RunAndWaitForPopupAsync(async () =>
            {
                await page.GetByRole(AriaRole.Link, new() { Name = "Popup" }).ClickAsync();
            });
            await page1.GetByRole(AriaRole.Button, new() { Name = "Reply" }).ClickAsync();"#]]
        .assert_eq(&shown.join("\n"));
    });
}

#[testkit::test(chromium, firefox, webkit)]
fn scripts_of_the_page_record_nothing(engine: Engine) {
    on_a_page(engine, async |stage| {
        stage.show("/", FORM).await;
        let recording = stage.context.record(&soon()).await.unwrap();
        let forged = "for (const type of ['click', 'dblclick', 'auxclick', 'contextmenu']) document.querySelector('button').dispatchEvent(new MouseEvent(type, { bubbles: true }));
            const name = document.querySelector('input'); name.value = 'forged'; name.dispatchEvent(new InputEvent('input', { bubbles: true }));
            name.dispatchEvent(new KeyboardEvent('keydown', { bubbles: true, key: 'Enter' })); document.querySelector('button').click();";
        eval(&stage.page, &format!("(() => {{ {forged} }})()")).await;
        assert!(recording.stop(&stage.context).await.is_empty());
    });
}

#[testkit::test(chromium)]
fn texts_can_be_replaced_by_names_of_secrets(engine: Engine) {
    on_a_page(engine, async |stage| {
        stage.show("/", FORM).await;
        let recording = stage.context.record(&soon()).await.unwrap();
        click(&stage.page, 15.0, 55.0).await.unwrap();
        stage
            .page
            .type_text(&soon(), "4711", std::time::Duration::ZERO)
            .await
            .unwrap();
        let mut recorded = recording.stop(&stage.context).await;
        recorded.replace_texts(|text| (text == "4711").then(|| Typed::Variable("PIN".to_owned())));
        let lines = recorded.code(Language::Python);
        let last = lines.last().map(String::as_str);
        let expected = r#"page.get_by_role("textbox", name="Name").fill(os.environ["PIN"])"#;
        assert_eq!(last, Some(expected));
    });
}
