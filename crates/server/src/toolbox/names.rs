//! The search for a tool whose name is similar to an unknown name.

use crate::error::nearest::nearest;

/// Names that other servers and older versions of `@playwright/mcp` use, by the name of the corresponding tool. All names are without
/// prefixes.
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

/// Prefixes of tool names that are ignored in comparisons.
const PREFIXES: [&str; 4] = ["browser_", "playwright_", "puppeteer_", "page_"];

/// Returns the tool whose name is most similar to `name`, or `None` if none is similar.
pub(super) fn most_similar(
    name: &str,
    tools: impl Iterator<Item = &'static str> + Clone,
) -> Option<&'static str> {
    let name = name.to_lowercase();
    let stemmed = stem(&name);
    let is_bare = stemmed == name;
    let foreign = FOREIGN.iter().find(|(_, names)| names.contains(&stemmed));
    let foreign = foreign.map(|(own, _)| *own);
    // Compared without prefixes, because a common prefix does not make two names similar.
    let nearest = || nearest(stemmed, tools.clone().map(stem));
    let with_stem = |stemmed: &str| {
        let mut matches = tools.clone().filter(|tool| stem(tool) == stemmed);
        let first = matches.next()?;
        let same_prefix = |tool: &&str| (stem(tool) == *tool) == is_bare;
        Some(
            std::iter::once(first)
                .chain(matches)
                .find(same_prefix)
                .unwrap_or(first),
        )
    };
    with_stem(stemmed)
        .or_else(|| with_stem(foreign?))
        .or_else(|| with_stem(nearest()?))
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
        let tools = [
            "browser_close",
            "browser_click",
            "browser_drag",
            "browser_navigate",
            "browser_tabs",
            "browser_take_screenshot",
            "browser_type",
            "list_sessions",
            "navigate",
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
            ("navigat", Some("navigate")),
            ("list_session", Some("list_sessions")),
            ("browser_route", None),
            ("browser_install", None),
            ("browser_wait", None),
            ("x", None),
        ] {
            assert_eq!(most_similar(name, tools.into_iter()), tool, "{name}");
        }
    }
}
