//! The URLs that tools may open. Local files and internal pages of the browser require permission. The engine enforces the rules about
//! origins for every request.

use crate::access::protected::Protected;
use crate::config::{Risk, Settings};
use crate::error::Result;
use std::path::Path;
use url::Url;

/// The rules about URLs that may be opened.
#[derive(Debug, Clone, Default)]
pub(crate) struct Addresses {
    /// Restricted schemes that the configuration allows.
    schemes: Vec<String>,
    /// Client code may run, also in `javascript:` URLs and in documents of `data:` URLs.
    scripts: bool,
    /// Files that are not shown even if local files are.
    protected: Protected,
}

impl Addresses {
    pub(crate) fn new(settings: &Settings) -> Self {
        let mut schemes = settings.security.schemes.clone();
        if settings.files.unrestricted {
            schemes.push("file".to_owned());
        }
        Self {
            schemes,
            scripts: !settings.tools.forbidden.contains(&Risk::Evaluation),
            protected: Protected::new(
                settings.files.protected.clone(),
                vec![settings.files.cwd.clone()],
            ),
        }
    }

    /// Returns an error for a URL that must not be opened.
    pub(crate) fn refuse(&self, url: &str) -> Result<()> {
        let Some(parsed) = behind(url) else {
            return Ok(());
        };
        let scheme = match parsed.scheme() {
            // The browser resolves all others to internal pages.
            "about" if !matches!(parsed.path(), "blank" | "srcdoc") => "chrome",
            scheme => scheme,
        };
        let special = match scheme {
            // Local files are read through their own tools, which check the roots.
            "file" | "filesystem" => true,
            "javascript" | "data" => !self.scripts,
            scheme => engine::INTERNAL_PAGES.contains(&scheme),
        };
        let is_allowed = !special || self.schemes.iter().any(|allowed| allowed == scheme);
        let is_protected = |path: &Path| self.protected.guard().covers_path(path);
        if is_allowed
            && !(scheme == "file" && parsed.to_file_path().is_ok_and(|at| is_protected(&at)))
        {
            return Ok(());
        }
        Err(engine::Error::UrlBlocked {
            url: url.to_owned(),
            scheme: parsed.scheme().to_owned(),
        }
        .into())
    }
}

/// Returns the origin of a URL, such as `https://example.com`, or the scheme of a URL without an origin, such as `about:`.
pub(crate) fn origin(url: &str) -> String {
    match behind(url) {
        Some(url) if url.origin().is_tuple() => url.origin().ascii_serialization(),
        Some(url) => format!("{}:", url.scheme()),
        None => "invalid:".to_owned(),
    }
}

/// `view-source:` shows the document of the URL behind it, and can be nested.
fn behind(url: &str) -> Option<Url> {
    const SOURCE_OF: &str = "view-source";
    let mut url = Url::parse(url).ok()?;
    while url.scheme() == SOURCE_OF {
        url = Url::parse(&url.as_str()[SOURCE_OF.len() + 1..]).ok()?;
    }
    Some(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowing(schemes: &[&str]) -> Addresses {
        Addresses {
            schemes: schemes.iter().map(|&scheme| scheme.to_owned()).collect(),
            scripts: true,
            protected: Protected::new(vec!["/srv/keys".into()], Vec::new()),
        }
    }

    #[test]
    fn files_are_not_shown_however_they_are_spelled() {
        for file in [
            "file:///etc/passwd",
            "FILE:///etc/passwd",
            " file:/etc/passwd",
            "fi\nle:///etc/passwd",
            "view-source:file:///etc/passwd",
            "view-source: fi\tle:///etc/passwd",
            "view-source:VIEW-SOURCE:view-source:file:///etc/passwd?a#b",
        ] {
            assert!(allowing(&[]).refuse(file).is_err(), "{file}");
            assert!(allowing(&["file"]).refuse(file).is_ok(), "{file}");
        }
        for page in [
            "http://x/?file:///etc/passwd",
            "view-source:http://x/",
            "view-source:",
            "about:blank",
            "data:text/html,x",
            "javascript:void 0",
        ] {
            assert!(allowing(&[]).refuse(page).is_ok(), "{page}");
        }
    }

    #[test]
    fn protected_files_are_not_shown_where_others_are() {
        let addresses = allowing(&["file"]);
        for file in [
            "file:///srv/keys",
            "file://localhost/srv/%6beys",
            "view-source:file:///srv/x/../keys",
            "file:///home/ada/.git/config",
        ] {
            assert!(addresses.refuse(file).is_err(), "{file}");
        }
        assert!(addresses.refuse("file:///srv/page.html").is_ok());
    }

    #[test]
    fn internal_pages_are_refused() {
        for inside in [
            "chrome://version",
            "about:version",
            "view-source:chrome://settings",
        ] {
            assert!(allowing(&["file"]).refuse(inside).is_err(), "{inside}");
            assert!(allowing(&["chrome"]).refuse(inside).is_ok(), "{inside}");
        }
        assert!(allowing(&["chrome"]).refuse("devtools://devtools").is_err());
        for code in [
            "javascript:alert(1)",
            "data:text/html,<script>alert(1)</script>",
            "DATA:image/svg+xml,<svg/>",
            " da\nta:,x",
            "view-source:data:text/html,x",
        ] {
            assert!(Addresses::default().refuse(code).is_err(), "{code}");
            assert!(allowing(&[]).refuse(code).is_ok(), "{code}");
        }
    }
}
