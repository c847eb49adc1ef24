//! A stand-in for Chromium on Windows, for tests under Wine: it passes the bytes of its debugging pipe to a real browser elsewhere, and
//! starts a helper that would outlive it.
//!
//! `STAND_IN_BROWSER` and `STAND_IN_HELPER` are addresses to which it and its helper connect for as long as they run.

#[cfg(not(windows))]
fn main() {}

#[cfg(windows)]
fn main() -> std::io::Result<()> {
    windows::run()
}

#[cfg(windows)]
mod windows {
    use std::env;
    use std::fs::File;
    use std::io::{self, Read as _, copy};
    use std::net::TcpStream;
    use std::os::windows::io::{FromRawHandle as _, RawHandle};
    use std::process::Command;
    use std::thread;

    const HELPER: &str = "--helper";
    const PIPE_HANDLES: &str = "--remote-debugging-io-pipes=";

    pub(crate) fn run() -> io::Result<()> {
        if env::args().any(|arg| arg == HELPER) {
            let mut test = connect("STAND_IN_HELPER")?;
            return test.read_to_end(&mut Vec::new()).map(drop);
        }
        #[expect(clippy::disallowed_methods, reason = "a browser starts helpers")]
        Command::new(env::current_exe()?).arg(HELPER).spawn()?;
        let handles = env::args().find_map(|arg| Some(arg.strip_prefix(PIPE_HANDLES)?.to_owned()));
        let handles = handles.ok_or_else(|| io::Error::other("no debugging pipe"))?;
        let mut handles = handles.split(',').map(open);
        let (Some(reads), Some(writes)) = (handles.next(), handles.next()) else {
            return Err(io::Error::other("two handles are needed"));
        };
        let (mut reads, mut writes) = (reads?, writes?);
        let mut browser = connect("STAND_IN_BROWSER")?;
        let mut to_browser = browser.try_clone()?;
        thread::spawn(move || {
            let _ = copy(&mut reads, &mut to_browser);
            // The server has closed the pipe.
            std::process::exit(0);
        });
        copy(&mut browser, &mut writes).map(drop)
    }

    /// Returns the connection to the address in an environment variable.
    fn connect(variable: &str) -> io::Result<TcpStream> {
        #[expect(clippy::disallowed_methods, reason = "an example has no configuration")]
        let address = env::var(variable).map_err(io::Error::other)?;
        TcpStream::connect(address)
    }

    fn open(handle: &str) -> io::Result<File> {
        let handle: usize = handle.parse().map_err(io::Error::other)?;
        #[expect(
            unsafe_code,
            reason = "the handle is inherited, and given by its number"
        )]
        // SAFETY: nothing else in this process uses the handle.
        Ok(unsafe { File::from_raw_handle(handle as RawHandle) })
    }
}
