//! The configuration of the background server of a workspace.

use std::{collections::BTreeMap, path::Path};

use clap::ArgMatches;
use sha2::{Digest, Sha256};

use super::{
    Config, ConfigError, Environment,
    layered::Source,
    options::{OPTIONS, Options},
};

/// The options whose defaults differ, with those defaults: commands run without a person who watches, tools that are not listed cost no
/// tokens, the current folder of a command may lie below the workspace, and every tool that returns an image also writes it to a file.
const DEFAULTS: [(&str, &str); 4] = [
    ("headless", "true"),
    ("toolsets", "all"),
    ("file_paths", "absolute"),
    ("image_responses", "omit"),
];

impl Config {
    /// Loads the configuration of a background server. Relative paths are relative to `cwd`, which is absolute.
    pub(crate) fn load_background(
        matches: &ArgMatches,
        environment: &Environment,
        cwd: &Path,
    ) -> Result<Config, ConfigError> {
        let mut options = Options::default();
        for def in OPTIONS {
            let default = DEFAULTS.iter().find(|(name, _)| *name == def.name);
            if let Some((name, text)) = default {
                (def.apply_text)(&mut options, Source::Background, text).map_err(|problem| {
                    ConfigError::Invalid {
                        name: (*name).to_owned(),
                        text: (*text).to_owned(),
                        problem,
                    }
                })?;
            }
        }
        Config::load_over(options, matches, environment, cwd)
    }
}

impl Environment {
    /// Returns a digest of the value of each variable that sets an option. Two environments with the same digests set the same options.
    pub(crate) fn option_digests(&self) -> BTreeMap<String, String> {
        let names = OPTIONS.iter().flat_map(|def| def.variables());
        let digest = |name: String| {
            let digest = Sha256::digest(self.get(&name)?);
            let digest = digest.iter().take(8).map(|byte| format!("{byte:02x}"));
            Some((name, digest.collect()))
        };
        names.filter_map(digest).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{FilePaths, ToolsetName};
    use clap::Command;

    fn load(flags: &[&str], variables: &[(&str, &str)]) -> Config {
        let command = Command::new("playhouse").args(crate::config::flags::arguments());
        let words = std::iter::once("playhouse").chain(flags.iter().copied());
        let matches = command.get_matches_from(words);
        let environment = variables.iter().copied().collect();
        Config::load_background(&matches, &environment, Path::new("/")).expect("valid")
    }

    #[test]
    fn the_background_server_has_defaults_of_its_own_that_every_layer_overrides() {
        let display = [("DISPLAY", ":0")];
        let settings = load(&[], &display).settings;
        assert!(settings.browser.headless);
        assert_eq!(settings.answers.file_paths, FilePaths::Absolute);
        assert!(settings.tools.toolsets.contains(&ToolsetName::Session));
        let flags = ["--headless=false", "--toolsets=browser"];
        let variables = [("DISPLAY", ":0"), ("PLAYHOUSE_FILE_PATHS", "relative")];
        let settings = load(&flags, &variables).settings;
        assert!(!settings.browser.headless);
        assert_eq!(settings.answers.file_paths, FilePaths::Relative);
        assert_eq!(settings.tools.toolsets, [ToolsetName::Browser]);
    }

    #[test]
    fn digests_name_the_variables_of_options_and_not_their_values() {
        let environment: Environment = [
            ("PLAYHOUSE_BROWSER", "firefox"),
            ("PLAYWRIGHT_MCP_CONFIG", "x.json"),
            ("PLAYHOUSE_CAPS", ""),
            ("HOME", "/root"),
        ]
        .into_iter()
        .collect();
        let digests = environment.option_digests();
        let names: Vec<_> = digests.keys().map(String::as_str).collect();
        assert_eq!(names, ["PLAYHOUSE_BROWSER", "PLAYWRIGHT_MCP_CONFIG"]);
        assert!(!format!("{digests:?}").contains("firefox"));
    }
}
