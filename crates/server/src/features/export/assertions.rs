//! Assertions of exported tests, derived from the changes of a page: the lines that answers list.

use engine::codegen::javascript::string as quote;

/// Roles whose elements are found by their names.
const NAMED: &[&str] = &[
    "alert",
    "alertdialog",
    "button",
    "checkbox",
    "combobox",
    "dialog",
    "form",
    "heading",
    "img",
    "link",
    "listbox",
    "menuitem",
    "navigation",
    "radio",
    "region",
    "row",
    "searchbox",
    "slider",
    "spinbutton",
    "status",
    "switch",
    "tab",
    "tabpanel",
    "table",
    "textbox",
];
/// Roles whose elements are found by their texts.
const TEXTS: &[&str] = &[
    "alert",
    "cell",
    "emphasis",
    "generic",
    "listitem",
    "paragraph",
    "status",
    "strong",
    "term",
    "text",
];
/// Roles of what a page says to its user.
const MESSAGES: &[&str] = &["alert", "alertdialog", "dialog", "heading", "status"];
const CHECKABLE: &[&str] = &["checkbox", "radio", "switch"];
const EDITABLE: &[&str] = &["searchbox", "spinbutton", "textbox"];

/// The longest text in an assertion, in characters.
const MAX_TEXT: usize = 60;
/// The longest number that is a value and not an identifier, in characters.
const MAX_NUMBER: usize = 4;

/// A line of a list of changes.
#[derive(Debug, Default, PartialEq, Eq)]
struct Change<'a> {
    is_new: bool,
    /// Empty for a text.
    role: &'a str,
    name: Option<String>,
    is_checked: bool,
    text: Option<String>,
}

/// Returns the assertions, the most useful first: at most `most`. Texts with numbers are left out, because they may be other ones in the
/// next run. `prefix` is that of the refs of the main document. `statement` is the code of the action; what it sets itself is not asserted.
pub(super) fn of_changes(
    lines: &[String],
    prefix: &str,
    statement: &str,
    most: usize,
) -> Vec<String> {
    let mut ranked: Vec<(u8, String)> = Vec::new();
    for change in lines.iter().filter_map(|line| parsed(line, prefix)) {
        let Some((rank, code)) = change.assertion(statement) else {
            continue;
        };
        if ranked.iter().all(|(_, other)| *other != code) {
            ranked.push((rank, code));
        }
    }
    ranked.sort_by_key(|(rank, _)| *rank);
    ranked.truncate(most);
    ranked.into_iter().map(|(_, code)| code).collect()
}

/// Returns the assertion that the page has this URL, if the URL is likely to be the same in the next run.
pub(super) fn of_url(url: &str) -> Option<String> {
    let (_, path) = url.split_once("://")?;
    let path = path.split_once('/').map_or("", |(_, path)| path);
    let is_stable = !path.contains(|c: char| c.is_ascii_digit()) && !url.contains('•');
    (is_stable && (url.starts_with("http://") || url.starts_with("https://")))
        .then(|| format!("await expect(page).toHaveURL({});", quote(url)))
}

impl Change<'_> {
    /// Returns the assertion with its rank; 0 is the most useful one.
    fn assertion(&self, statement: &str) -> Option<(u8, String)> {
        let is_message = MESSAGES.contains(&self.role);
        let Some(name) = &self.name else {
            let is_text = self.role.is_empty() || TEXTS.contains(&self.role);
            let text = self.text.as_ref().filter(|text| is_stable(text));
            let text = text.filter(|_| is_text)?;
            let locator = format!("getByText({}, {{ exact: true }})", quote(text));
            return Some((if is_message { 0 } else { 2 }, visible(&locator)));
        };
        if !NAMED.contains(&self.role) || !is_stable(name) {
            return None;
        }
        let locator = format!("getByRole({}, {{ name: {}", quote(self.role), quote(name));
        let is_target = statement.contains(&locator);
        let locator = format!("{locator}, exact: true }})");
        let is_set = is_target && !statement.contains(".click(");
        if CHECKABLE.contains(&self.role) && self.is_checked && !is_set {
            return Some((0, format!("await expect(page.{locator}).toBeChecked();")));
        }
        let value = self.text.as_ref().filter(|text| is_stable_value(text));
        if let Some(value) = value.filter(|_| EDITABLE.contains(&self.role) && !is_set) {
            let value = quote(value);
            if statement.ends_with(&format!(".fill({value});")) {
                return None;
            }
            return Some((
                0,
                format!("await expect(page.{locator}).toHaveValue({value});"),
            ));
        }
        self.is_new
            .then(|| (if is_message { 0 } else { 1 }, visible(&locator)))
    }
}

fn visible(locator: &str) -> String {
    format!("await expect(page.{locator}).toBeVisible();")
}

/// Returns whether a text is likely to be the same in the next run.
fn is_stable(text: &str) -> bool {
    let is_short = (2..=MAX_TEXT).contains(&text.chars().count());
    let is_other = |c: char| c.is_numeric() || c.is_control() || c == '•';
    is_short
        && text.contains(char::is_alphabetic)
        && !text.contains(is_other)
        && !text.ends_with(" ago")
        && !text.contains("just now")
}

fn is_stable_value(text: &str) -> bool {
    let is_number = text.len() <= MAX_NUMBER && text.chars().all(|c| c.is_ascii_digit());
    is_stable(text) || (is_number && !text.is_empty())
}

/// Returns whether a line of a snapshot is a heading with a name, in either layout.
pub(super) fn is_heading(line: &str) -> bool {
    let line = line.trim_start();
    let is_compact = line.starts_with('#') && line.trim_start_matches('#').starts_with(' ');
    is_compact || line.trim_start_matches("- ").starts_with("heading \"")
}

/// Parses a line that says what appeared or changed, in either layout of snapshots. Returns `None` for lines with several elements and for
/// those of frames, whose refs have another prefix.
fn parsed<'a>(line: &'a str, prefix: &str) -> Option<Change<'a>> {
    let is_new = line.starts_with('+');
    let body = line.strip_prefix(['+', '~'])?.trim_start();
    let body = body.strip_prefix("- ").unwrap_or(body);
    // What is shortened, and lines that no element has.
    let is_other = body.starts_with(['/', '\'', '[']) || body.starts_with("not [");
    if is_other || body.contains('…') || body.contains("[looks different]") {
        return None;
    }
    let named = |role, name| Change {
        is_new,
        role,
        name: Some(name),
        ..Change::default()
    };
    if let Some(heading) = body.trim_start_matches('#').strip_prefix(' ')
        && body.starts_with('#')
    {
        return Some(named("heading", plain(heading)?));
    }
    if let Some(cells) = body.strip_prefix("| ") {
        let cells: Option<Vec<_>> = cells.split(" | ").map(plain).collect();
        return Some(named("row", cells?.join(" ")));
    }
    let end = body.find(|c: char| !c.is_ascii_lowercase());
    let (role, rest) = body.split_at(end.unwrap_or(body.len()));
    let is_node = rest.is_empty() || rest.starts_with([' ', ':']);
    if !is_node || !(NAMED.contains(&role) || TEXTS.contains(&role)) {
        return Some(Change {
            is_new,
            text: Some(plain(body)?),
            ..Change::default()
        });
    }
    let mut change = Change {
        is_new,
        role,
        ..Change::default()
    };
    let mut rest = rest.trim_start();
    if rest.starts_with('"') {
        let (name, after) = quoted(rest)?;
        change.name = Some(name);
        rest = after.trim_start();
    }
    loop {
        let (word, after) = match rest.strip_prefix('[') {
            Some(inside) => inside.split_once(']')?,
            None => {
                let end = rest.find([' ', ':']).unwrap_or(rest.len());
                let (word, after) = rest.split_at(end);
                if !is_reference(word) {
                    break;
                }
                (word, after)
            }
        };
        match word.strip_prefix("ref=").unwrap_or(word) {
            reference if is_reference(reference) => {
                let number = reference.strip_prefix(prefix)?.strip_prefix('e')?;
                number.parse::<u64>().ok()?;
            }
            "checked" => change.is_checked = true,
            "gone" => return None,
            _ => {}
        }
        rest = after.trim_start();
    }
    if let Some(text) = rest.strip_prefix(':') {
        change.text = Some(plain(text.trim_start())?);
    }
    Some(change)
}

/// Returns a text without its quotes; `None` if there is more than a text.
fn plain(text: &str) -> Option<String> {
    if text.starts_with('"') {
        let (text, rest) = quoted(text)?;
        return rest.is_empty().then_some(text);
    }
    let has_node = text.contains('"') || text.split([' ', ':']).any(is_reference);
    (!has_node && !text.contains("[ref=")).then(|| text.trim().to_owned())
}

/// Splits a text into the string in quotes at its beginning and the rest.
fn quoted(text: &str) -> Option<(String, &str)> {
    let mut is_escaped = false;
    let end = text.char_indices().skip(1).find(|(_, char)| {
        let is_end = *char == '"' && !is_escaped;
        is_escaped = *char == '\\' && !is_escaped;
        is_end
    });
    let (string, rest) = text.split_at(end?.0 + 1);
    Some((serde_json::from_str(string).ok()?, rest))
}

/// Returns whether a word is a ref, such as `e5`, `f1e5` or `admin-e5`.
fn is_reference(word: &str) -> bool {
    let Some((before, number)) = word.rsplit_once('e') else {
        return false;
    };
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
    let frame = before.rsplit_once('-').map_or(before, |(_, frame)| frame);
    let is_frame = frame.is_empty() || frame.strip_prefix('f').is_some_and(is_number);
    is_number(number) && is_frame
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(lines: &[&str], statement: &str) -> Vec<String> {
        let lines: Vec<_> = lines.iter().map(|line| (*line).to_owned()).collect();
        of_changes(&lines, "", statement, 2)
    }

    #[test]
    fn what_appeared_is_asserted_in_both_layouts() {
        let button =
            "await expect(page.getByRole('button', { name: 'Undo', exact: true })).toBeVisible();";
        let heading =
            "await expect(page.getByRole('heading', { name: 'Cart', exact: true })).toBeVisible();";
        let text = "await expect(page.getByText('Order placed', { exact: true })).toBeVisible();";
        assert_eq!(of(&["+ button \"Undo\" e5"], ""), [button]);
        assert_eq!(
            of(&["+   button \"Undo\" [ref=e5] [cursor=pointer]"], ""),
            [button]
        );
        assert_eq!(of(&["+ ## Cart"], ""), [heading]);
        assert_eq!(
            of(&["+ heading \"Cart\" [level=2] [ref=e5]"], ""),
            [heading]
        );
        for line in [
            "+ Order placed",
            "+ - Order placed",
            "+ status e4: Order placed",
            "~ paragraph [ref=e5]: Order placed",
            "+ text: \"Order placed\"",
            "+ alert [ref=e5]: Order placed",
        ] {
            assert_eq!(of(&[line], ""), [text], "{line}");
        }
        assert_eq!(
            of(&["+ | Ada | Lovelace"], ""),
            [
                "await expect(page.getByRole('row', { name: 'Ada Lovelace', exact: true })).toBeVisible();"
            ]
        );
    }

    #[test]
    fn refs_of_the_main_document_have_its_prefix() {
        let of = |line: &str, prefix| of_changes(&[line.to_owned()], prefix, "", 2).len();
        assert_eq!(of("+ button \"Undo\" f1e13", "f1"), 1);
        assert_eq!(of("+ button \"Undo\" [ref=f1e13]", "f1"), 1);
        assert_eq!(of("+ button \"Undo\" f2e13", "f1"), 0);
        assert_eq!(of("+ button \"Undo\" f1e13", ""), 0);
        assert_eq!(of("+ button \"Undo\" admin-e13", "admin-"), 1);
        assert_eq!(of("+ button \"Undo\" admin-f1e13", "admin-"), 0);
    }

    #[test]
    fn values_and_states_are_asserted_unless_the_action_sets_them() {
        let checked =
            "await expect(page.getByRole('checkbox', { name: 'All', exact: true })).toBeChecked();";
        let lines = ["~ checkbox \"All\" [checked] e5"];
        let click = "await page.getByRole('checkbox', { name: 'All' }).click();";
        assert_eq!(of(&lines, click), [checked]);
        assert!(of(&lines, &click.replace("click", "check")).is_empty());
        let value = "await expect(page.getByRole('textbox', { name: 'Total', exact: true })).toHaveValue('12');";
        assert_eq!(of(&["~ textbox \"Total\" [ref=e5]: \"12\""], ""), [value]);
        assert_eq!(of(&["~ textbox \"Total\" [active] e5: 12"], ""), [value]);
        let fill = "await page.getByRole('textbox', { name: 'Total' }).fill('12');";
        assert!(of(&["~ textbox \"Total\" e5: 12"], fill).is_empty());
        let fill = "await page.getByLabel('Total').fill('12');";
        assert!(of(&["~ textbox \"Total\" e5: 12"], fill).is_empty());
    }

    #[test]
    fn what_may_differ_in_the_next_run_is_not_asserted() {
        for line in [
            "+ 2026-11-25",
            "+ Order 4711",
            "+ # 3 items",
            "+ link \"3 items\" e5",
            "+ button \"Undo\" f1e5",
            "+ alert [gone]: \"Saved\"",
            "- button \"Undo\" e5",
            "~ button \"Undo\" [active] e5",
            "+ Read the link \"terms\" e7 first.",
            "+ textbox \"Pin\" e5: ••••",
            "~ textbox \"Pin\" e5: ••••",
            "~ textbox \"Id\" e5: 471147",
            "+ two minutes ago",
            "+ A long text that is sho…",
            "… and two more lines",
            "+ table e8",
        ] {
            let lines = of(&[line], "");
            assert!(
                lines.iter().all(|it| it.contains("'Pin'")),
                "{line}: {lines:?}"
            );
            assert!(
                lines.iter().all(|it| !it.contains('•')),
                "{line}: {lines:?}"
            );
        }
        assert_eq!(of_url("http://localhost:8080/orders/47"), None);
        assert!(of_url("http://localhost:8080/orders?done").is_some());
    }

    #[test]
    fn messages_come_first_and_two_are_enough() {
        let all = of(
            &[
                "+ One",
                "+ link \"Two\" e1",
                "+ dialog \"Three\" e2",
                "+ One",
            ],
            "",
        );
        assert!(
            all[0].contains("Three") && all[1].contains("Two"),
            "{all:?}"
        );
        assert_eq!(all.len(), 2);
    }
}
