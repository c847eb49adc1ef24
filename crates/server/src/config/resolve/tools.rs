//! Resolves which tools are listed.

use super::super::options::Options;
use super::super::settings::{DEFAULT_SESSION_TOOLS, Risk, ToolSettings};
use super::super::value::{Capability, OptionValue as _, ToolRule, ToolsetName};
use super::required;

/// Returns the toolsets, capabilities and rules. By default the `browser` toolset is on, with the session tools that create its sessions.
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

/// Whether the tool that throttles the network can be listed. Some browsers must be started with a proxy for it.
pub(super) fn can_throttle(tools: &ToolSettings) -> bool {
    let mut rules = tools.rules.iter();
    tools.toolsets.contains(&ToolsetName::Session)
        || rules.any(|rule| rule.allow && rule.name == "set_throttling")
}

/// Returns the risks that the operator turned off.
pub(super) fn forbidden(options: &Options) -> Vec<Risk> {
    let switches = [
        (&options.enable_script_evaluation, Risk::Evaluation),
        (&options.enable_file_upload, Risk::Upload),
    ];
    let off = switches.into_iter().filter(|(on, _)| !required(*on));
    off.map(|(_, risk)| risk).collect()
}

/// Returns the capabilities that are on. Adds notices about unknown ones.
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
    // With the session toolset, named contexts are always available.
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
