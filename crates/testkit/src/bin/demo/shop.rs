//! The demonstration of a customer in the example shop, with the `browser` tools.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::json;
use testkit::{Launch, Site};

use crate::show::Show;

/// Runs the demonstration.
pub(crate) async fn run_demo(server: Launch) -> Show {
    let site = Site::start().await;
    let folder = Path::new("target/demo");
    std::fs::create_dir_all(folder).expect("target/ can be written");
    std::fs::write(folder.join("receipt.txt"), "one kettle, 24 €\n")
        .expect("target/ can be written");
    let mut show = Show::begin(server.workspace(folder)).await;
    browse(&mut show, &site).await;
    sign_in(&mut show, &site).await;
    fill_the_profile(&mut show, &site).await;
    read_the_orders(&mut show, &site).await;
    answer_dialogs(&mut show, &site).await;
    move_files(&mut show, &site, folder).await;
    inspect_state(&mut show, &site).await;
    watch_the_network(&mut show, &site).await;
    take_screenshots(&mut show, folder).await;
    show
}

async fn browse(show: &mut Show, site: &Site) {
    show.part("The shop window");
    show.call(
        "browser_navigate",
        json!({ "url": site.url("/shop/") }),
        &["Page Title: Corner Shop"],
    )
    .await;
    show.call("browser_wait_for", json!({ "text": "Kettle" }), &[])
        .await;
    show.call(
        "browser_snapshot",
        json!({}),
        &[
            "heading \"Everything for a small kitchen\" [level=1]",
            "searchbox \"Search products\"",
        ],
    )
    .await;
    show.call(
        "browser_type",
        json!({ "target": "getByRole('searchbox')", "text": "cup" }),
        &[".fill('cup')"],
    )
    .await;
    show.call(
        "browser_wait_for",
        json!({ "text": "1 of 12 products" }),
        &[],
    )
    .await;
    let add = "getByRole('button', { name: 'Add Espresso cup to basket' })";
    show.call(
        "browser_click",
        json!({ "target": add }),
        &["Espresso cup is in your basket"],
    )
    .await;
    show.call("browser_find", json!({ "text": "Espresso" }), &["Found"])
        .await;
}

async fn sign_in(show: &mut Show, site: &Site) {
    show.part("Signing in");
    show.call(
        "browser_navigate",
        json!({ "url": site.url("/shop/login.html") }),
        &["textbox \"Email\""],
    )
    .await;
    for (password, then) in [
        ("babbage", "Wrong email or password."),
        ("lovelace", "heading \"Your account\""),
    ] {
        let fields = json!([
            { "name": "Email", "target": "getByLabel('Email')", "type": "textbox", "value": "ada@example.com" },
            { "name": "Password", "target": "getByLabel('Password')", "type": "textbox", "value": password },
        ]);
        show.call("browser_fill_form", json!({ "fields": fields }), &[])
            .await;
        let button = show.ref_of("button \"Sign in\"").await;
        show.call(
            "browser_click",
            json!({ "target": button, "element": "Sign in" }),
            &[then],
        )
        .await;
    }
    show.call(
        "browser_wait_for",
        json!({ "text": "Welcome back, Ada." }),
        &[],
    )
    .await;
}

async fn fill_the_profile(show: &mut Show, site: &Site) {
    show.part("A form with every kind of field");
    show.call(
        "browser_navigate",
        json!({ "url": site.url("/shop/profile.html") }),
        &["slider \"Volume\"", "spinbutton \"Guests\""],
    )
    .await;
    let field = |name: &str, kind: &str, value: &str| json!({ "name": name, "target": format!("getByLabel('{name}')"), "type": kind, "value": value });
    let fields = json!([
        field("Full name", "textbox", "Ada Lovelace"),
        field("New password", "textbox", "analytical"),
        field("Guests", "textbox", "4"),
        field("Volume", "slider", "75"),
        field("Birthday", "textbox", "1815-12-10"),
        field("Alarm", "textbox", "07:30"),
        field("Favourite colour", "textbox", "#aa3311"),
        field("Send me the newsletter", "checkbox", "true"),
        field("By bicycle", "radio", "true"),
        field("Country", "combobox", "United Kingdom"),
        field("About", "textbox", "First of programmers"),
        field("Motto", "textbox", "Note G"),
    ]);
    show.call(
        "browser_fill_form",
        json!({ "fields": fields }),
        &[".check()"],
    )
    .await;
    show.call(
        "browser_select_option",
        json!({ "target": "getByLabel('Languages')", "values": ["French", "Japanese"] }),
        &["selectOption"],
    )
    .await;
    let saved = [
        "Profile saved",
        "Ada Lovelace",
        "1815-12-10",
        "07:30",
        "#aa3311",
        "bike",
        "Note G",
    ];
    show.call(
        "browser_click",
        json!({ "target": "getByRole('button', { name: 'Save profile' })" }),
        &saved,
    )
    .await;
}

async fn read_the_orders(show: &mut Show, site: &Site) {
    show.part("A table with paging and sorting");
    show.call(
        "browser_navigate",
        json!({ "url": site.url("/shop/orders.html") }),
        &["table"],
    )
    .await;
    show.call("browser_wait_for", json!({ "text": "Page 1 of 9" }), &[])
        .await;
    show.call(
        "browser_click",
        json!({ "target": "getByRole('button', { name: 'Next' })" }),
        &["Page 2 of 9", "1006"],
    )
    .await;
    show.call(
        "browser_click",
        json!({ "target": "getByRole('button', { name: 'Total' })" }),
        &["Page 1 of 9", "4.50 €"],
    )
    .await;
    let cells = "() => [...document.querySelectorAll('tbody tr')].map(row => row.cells[2].textContent).join(' ')";
    show.call("browser_evaluate", json!({ "function": cells }), &["€"])
        .await;
}

async fn answer_dialogs(show: &mut Show, site: &Site) {
    show.part("Dialogs");
    show.call(
        "browser_navigate",
        json!({ "url": site.url("/shop/dialogs.html") }),
        &["button \"Name a voucher\""],
    )
    .await;
    let voucher = json!({ "target": "getByRole('button', { name: 'Name a voucher' })" });
    show.call(
        "browser_click",
        voucher,
        &["[\"prompt\" dialog with message \"Name of the voucher\"]"],
    )
    .await;
    show.call(
        "browser_handle_dialog",
        json!({ "accept": true, "promptText": "SPRING" }),
        &[],
    )
    .await;
    show.call(
        "browser_click",
        json!({ "target": "getByRole('button', { name: 'Write a note' })" }),
        &["voucher SPRING", "heading \"A note for the courier\""],
    )
    .await;
    show.call("browser_type", json!({ "target": "getByLabel('Note', { exact: true })", "text": "Ring twice", "submit": true }), &["note: Ring twice"]).await;
    show.call("browser_press_key", json!({ "key": "Tab" }), &[])
        .await;
}

async fn move_files(show: &mut Show, site: &Site, folder: &Path) {
    show.part("Upload and download");
    show.call(
        "browser_navigate",
        json!({ "url": site.url("/shop/files.html") }),
        &["link \"Invoice as CSV\""],
    )
    .await;
    show.call(
        "browser_click",
        json!({ "target": "getByRole('button', { name: 'Choose a receipt' })" }),
        &["[File chooser]"],
    )
    .await;
    let receipt = folder
        .canonicalize()
        .expect("it was made above")
        .join("receipt.txt");
    show.call(
        "browser_file_upload",
        json!({ "paths": [receipt] }),
        &["receipt.txt (19 bytes)"],
    )
    .await;
    show.call(
        "browser_drop",
        json!({ "target": "getByRole('region', { name: 'Drop zone' })", "paths": [receipt] }),
        &["receipt.txt (19 bytes)"],
    )
    .await;
    show.call(
        "browser_click",
        json!({ "target": "getByRole('link', { name: 'Invoice as CSV' })" }),
        &["invoice.csv"],
    )
    .await;
    show.expect(
        wait_for_file(&folder.join(".playwright-mcp/invoice.csv")).await,
        "invoice.csv lies in the output folder",
    );
}

async fn inspect_state(show: &mut Show, site: &Site) {
    show.part("Frames of another origin, shadow roots, what moves");
    show.call(
        "browser_navigate",
        json!({ "url": site.url("/shop/frames.html") }),
        &["textbox \"Card number\"", "button \"Subscribe\""],
    )
    .await;
    let frame = "locator('iframe[title=Payment]').contentFrame()";
    show.call("browser_type", json!({ "target": format!("{frame}.getByLabel('Card number')"), "text": "4242424242424242" }), &[]).await;
    show.call(
        "browser_click",
        json!({ "target": format!("{frame}.getByRole('button', {{ name: 'Pay' }})") }),
        &["paid with card 4242"],
    )
    .await;
    show.call(
        "browser_navigate",
        json!({ "url": site.url("/shop/widgets.html") }),
        &["group \"Rate the kettle\"", "group \"Rate the hours\""],
    )
    .await;
    let star = "getByRole('group', { name: 'Rate the hours' }).getByRole('button', { name: '2 of 3 stars' })";
    show.call("browser_click", json!({ "target": star }), &["rated 2"])
        .await;
    show.call(
        "browser_click",
        json!({ "target": "getByRole('button', { name: 'Catch me' })" }),
        &["Caught"],
    )
    .await;
    show.call(
        "browser_navigate",
        json!({ "url": site.url("/shop/board.html") }),
        &["Bake bread"],
    )
    .await;
    let drag = json!({
        "startTarget": "getByText('Bake bread')", "startElement": "a task",
        "endTarget": "getByRole('list', { name: 'Done' })", "endElement": "the done list",
    });
    show.call("browser_drag", drag, &["dragTo"]).await;
    show.call(
        "browser_evaluate",
        json!({ "function": "() => document.querySelector('#done').textContent.trim()" }),
        &["Bake bread"],
    )
    .await;
}

async fn watch_the_network(show: &mut Show, site: &Site) {
    show.part("Requests, console, tabs");
    show.call(
        "browser_navigate",
        json!({ "url": site.url("/shop/network.html") }),
        &["button \"Count the stock\""],
    )
    .await;
    show.call(
        "browser_click",
        json!({ "target": "getByRole('button', { name: 'Count the stock' })" }),
        &["128 items in stock"],
    )
    .await;
    show.call(
        "browser_network_requests",
        json!({}),
        &["/shop/api/stock?delay=150", "200"],
    )
    .await;
    show.call(
        "browser_click",
        json!({ "target": "getByRole('button', { name: 'Write to the console' })" }),
        &["1 errors, 1 warnings"],
    )
    .await;
    show.call(
        "browser_console_messages",
        json!({ "level": "warning" }),
        &["flour runs low", "the oven is cold"],
    )
    .await;
    show.call(
        "browser_click",
        json!({ "target": "getByRole('button', { name: 'Open the receipt' })" }),
        &[],
    )
    .await;
    show.call("browser_tabs", json!({ "action": "list" }), &["[Receipt]("])
        .await;
    show.call(
        "browser_tabs",
        json!({ "action": "close", "index": 1 }),
        &["(current)"],
    )
    .await;
}

async fn take_screenshots(show: &mut Show, folder: &Path) {
    show.part("Pictures");
    show.call(
        "browser_resize",
        json!({ "width": 900, "height": 600 }),
        &[],
    )
    .await;
    show.call(
        "browser_emulate_media",
        json!({ "colorScheme": "dark" }),
        &[],
    )
    .await;
    let answer = show
        .call(
            "browser_take_screenshot",
            json!({ "filename": "shop.png" }),
            &["shop.png"],
        )
        .await;
    let path = answer
        .linked_file(answer.result())
        .unwrap_or_else(|| folder.join("shop.png"));
    show.expect(path.is_file(), "the screenshot lies where the answer says");
    println!("\nThe screenshot: {}", path.display());
}

/// Waits for a download, which ends after the answer of the click that started it.
async fn wait_for_file(path: &Path) -> bool {
    let start = Instant::now();
    while !path.is_file() {
        if start.elapsed() > Duration::from_secs(10) {
            return false;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    true
}
