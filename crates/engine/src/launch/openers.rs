//! A page starts no program: a browser finds none to open an external protocol with.

use super::profile::make_private;
use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::process::Command;

/// The programs that Chromium starts for a URL of an external protocol, by their names.
const OPENERS: [&str; 3] = ["xdg-open", "xdg-email", "xdg-settings"];

/// The folder in a profile that stands before all others in `PATH`.
const FOLDER: &str = "playhouse-no-openers";

/// The folders that are searched without a `PATH`.
const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Prevents the browser from finding the programs: a link to itself, in the first folder of `PATH`, ends the search of `execvp` with an
/// error. `own` is the `PATH` that the user has set for the browser.
pub(super) fn hide_openers(
    command: &mut Command,
    profile: &Path,
    own: Option<&str>,
) -> io::Result<()> {
    let folder = profile.join(FOLDER);
    make_private(&folder)?;
    for name in OPENERS {
        match std::os::unix::fs::symlink(name, folder.join(name)) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
    }
    #[expect(
        clippy::disallowed_methods,
        reason = "the browser inherits it from this process"
    )]
    let inherited = || std::env::var_os("PATH");
    let path = own.map(OsString::from).or_else(inherited);
    let path = path.unwrap_or_else(|| DEFAULT_PATH.into());
    let folders = std::iter::once(folder).chain(std::env::split_paths(&path));
    command.env(
        "PATH",
        std::env::join_paths(folders).map_err(io::Error::other)?,
    );
    Ok(())
}
