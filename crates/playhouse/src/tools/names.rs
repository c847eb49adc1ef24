//! The tool that an unknown name most likely means.

use crate::error::nearest::nearest;

/// What tools of other servers, and older ones of `@playwright/mcp`, are called, by the tool of ours that does it. All without their prefixes.
const FOREIGN: &[(&str, &[&str])] = &[
    (
        "navigate",
        &[
            "nav",
            "goto",
            "go_to",
            "go_to_url",
            "open",
            "open_url",
            "navigate_page",
            "visit",
        ],
    ),
    ("navigate_back", &["back", "go_back"]),
    (
        "take_screenshot",
        &["screenshot", "screen_capture", "capture"],
    ),
    (
        "snapshot",
        &[
            "take_snapshot",
            "get_snapshot",
            "get_state",
            "get_content",
            "get_visible_text",
            "get_visible_html",
            "read_page",
        ],
    ),
    (
        "type",
        &["fill", "input", "input_text", "type_text", "enter_text"],
    ),
    ("fill_form", &["form", "fill_fields"]),
    (
        "press_key",
        &["press", "key", "send_keys", "keyboard_press"],
    ),
    ("select_option", &["select", "select_dropdown_option"]),
    (
        "evaluate",
        &[
            "eval",
            "execute",
            "execute_script",
            "evaluate_script",
            "run_script",
            "execute_js",
        ],
    ),
    ("run_code_unsafe", &["run_code", "run_playwright_code"]),
    (
        "wait_for",
        &["wait", "sleep", "wait_for_text", "wait_for_selector"],
    ),
    (
        "tabs",
        &[
            "tab_list",
            "tab_new",
            "tab_select",
            "tab_close",
            "list_tabs",
            "new_tab",
            "switch_tab",
            "close_tab",
            "list_pages",
            "new_page",
            "select_page",
            "close_page",
        ],
    ),
    (
        "console_messages",
        &[
            "console",
            "console_logs",
            "get_console_logs",
            "list_console_messages",
        ],
    ),
    (
        "network_requests",
        &[
            "network",
            "requests",
            "get_request_log",
            "list_network_requests",
        ],
    ),
    ("network_request", &["get_network_request"]),
    ("file_upload", &["upload", "upload_file"]),
    ("resize", &["resize_page", "set_viewport"]),
    (
        "handle_dialog",
        &["dialog", "accept_dialog", "dismiss_dialog"],
    ),
    ("mouse_wheel", &["scroll"]),
    ("pdf_save", &["pdf", "save_as_pdf", "save_pdf"]),
    ("drag", &["drag_and_drop"]),
    ("close", &["quit", "close_browser"]),
];

/// What stands before the names of tools, and says nothing about what they do.
const PREFIXES: [&str; 4] = ["browser_", "playwright_", "puppeteer_", "page_"];

/// The tool among `known` that `name` most likely means; `None` where none is near enough.
pub(super) fn meant(
    name: &str,
    known: impl Iterator<Item = &'static str> + Clone,
) -> Option<&'static str> {
    let name = name.to_lowercase();
    let wanted = stem(&name);
    let foreign = FOREIGN.iter().find(|(_, names)| names.contains(&wanted));
    let foreign = foreign.map(|(ours, _)| *ours);
    // A prefix that is right does not make two names alike.
    let nearest = || nearest(wanted, known.clone().map(stem));
    let of_stem = |wanted: &str| {
        let mut tools = known.clone().filter(|tool| stem(tool) == wanted);
        let first = tools.next()?;
        let same_prefix = |tool: &&str| (stem(tool) == *tool) == (wanted == name);
        Some(
            std::iter::once(first)
                .chain(tools)
                .find(same_prefix)
                .unwrap_or(first),
        )
    };
    of_stem(wanted)
        .or_else(|| of_stem(foreign?))
        .or_else(|| of_stem(nearest()?))
}

fn stem(name: &str) -> &str {
    let stems = PREFIXES
        .iter()
        .filter_map(|prefix| name.strip_prefix(prefix));
    stems.min_by_key(|stem| stem.len()).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_names_and_typos_suggest_a_tool() {
        let known = [
            "browser_close",
            "browser_click",
            "browser_drag",
            "browser_navigate",
            "browser_tabs",
            "browser_take_screenshot",
            "browser_type",
            "list_sessions",
        ];
        for (name, tool) in [
            ("browser_nav", Some("browser_navigate")),
            ("puppeteer_navigate", Some("browser_navigate")),
            ("click", Some("browser_click")),
            ("fill", Some("browser_type")),
            ("browser_screenshot", Some("browser_take_screenshot")),
            ("browser_tab_new", Some("browser_tabs")),
            ("Browser_Clik", Some("browser_click")),
            ("browser_navigat", Some("browser_navigate")),
            ("list_session", Some("list_sessions")),
            ("browser_route", None),
            ("browser_install", None),
            ("browser_wait", None),
            ("x", None),
        ] {
            assert_eq!(meant(name, known.into_iter()), tool, "{name}");
        }
    }
}
