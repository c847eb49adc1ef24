//! Which tools there are.

use super::super::options::Options;
use super::super::settings::{DEFAULT_SESSION_TOOLS, Risk, ToolSettings};
use super::super::value::{Capability, OptionValue as _, ToolRule, ToolsetName};
use super::required;

/// The toolsets and the rules about single tools. By default the `browser` toolset is on, with the tools that make sessions for it.
pub(super) fn chosen(options: &Options) -> ToolSettings {
    let named = options.tools.or_empty().0.into_iter();
    let (toolsets, by_default) = match options.toolsets.value() {
        Some(toolsets) => (toolsets.0, None),
        None => {
            let toolsets = vec![ToolsetName::Browser, ToolsetName::E2e];
            (toolsets, Some(DEFAULT_SESSION_TOOLS))
        }
    };
    let by_default = by_default.into_iter().flatten();
    let by_default = by_default.map(|name| ToolRule {
        allow: true,
        name: name.to_owned(),
    });
    ToolSettings {
        toolsets,
        rules: by_default.chain(named).collect(),
        ..ToolSettings::default()
    }
}

/// Whether there may be the tool that throttles the network: some browsers have to be started for it.
pub(super) fn can_throttle(tools: &ToolSettings) -> bool {
    let mut rules = tools.rules.iter();
    tools.toolsets.contains(&ToolsetName::Session)
        || rules.any(|rule| rule.allow && rule.name == "set_throttling")
}

/// What no tool may do.
pub(super) fn forbidden(options: &Options) -> Vec<Risk> {
    let switches = [
        (&options.enable_script_evaluation, Risk::Evaluation),
        (&options.enable_file_upload, Risk::Upload),
    ];
    let off = switches.into_iter().filter(|(on, _)| !required(*on));
    off.map(|(_, risk)| risk).collect()
}

/// The tools of `@playwright/mcp` that there are not.
const NO_DEVTOOLS: &str = "browser_resume, browser_highlight, browser_hide_highlight, browser_annotate, browser_start_recording, browser_stop_recording, browser_start_tracing, browser_stop_tracing, browser_start_video, browser_stop_video, browser_video_chapter, browser_video_show_actions, browser_video_hide_actions";

/// The capabilities beside the core.
pub(super) fn capabilities(options: &mut Options, notices: &mut Vec<String>) -> Vec<Capability> {
    let mut capabilities = Vec::new();
    for name in options.caps.or_empty().0 {
        match Capability::parse(&name) {
            Ok(capability) => capabilities.push(capability),
            Err(_) if name == "tracing" => capabilities.push(Capability::Devtools),
            Err(_) if name == "core" || name.starts_with("core-") => {}
            Err(_) => notices.push(format!("unknown capability \"{name}\" is ignored.")),
        }
    }
    if options.vision.get() == Some(&true) {
        notices.push("--vision is deprecated, use --caps vision.".to_owned());
        capabilities.push(Capability::Vision);
    }
    if capabilities.contains(&Capability::Devtools) {
        notices.push(format!(
            "the capability \"devtools\" has no tools yet: {NO_DEVTOOLS} are missing."
        ));
    }
    // Who works with sessions has named contexts in each.
    if options
        .toolsets
        .get()
        .is_some_and(|names| names.0.contains(&ToolsetName::Session))
    {
        capabilities.push(Capability::Contexts);
    }
    capabilities.sort();
    capabilities.dedup();
    capabilities
}
