//! `playhouse man`: prints the manual page.

use std::process::ExitCode;

use clap::Command;

use super::{arguments, print};

pub(super) const NAME: &str = "man";

pub(super) fn command() -> Command {
    Command::new(NAME).about("Print the manual page: playhouse man | man -l -")
}

pub(super) fn run() -> ExitCode {
    let mut page = Vec::new();
    // Writing to memory does not fail.
    let _ = clap_mangen::Man::new(arguments::command()).render(&mut page);
    print(&escaped(&String::from_utf8_lossy(&page)))
}

/// Returns a page in ASCII, because roff accepts no other characters: <https://man7.org/linux/man-pages/man7/groff_char.7.html>
fn escaped(page: &str) -> String {
    let mut text = String::with_capacity(page.len());
    for c in page.chars() {
        match c.is_ascii() {
            true => text.push(c),
            false => text += &format!("\\[u{:04X}]", u32::from(c)),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_ascii() {
        assert_eq!(escaped("type … 𝄞"), r"type \[u2026] \[u1D11E]");
    }
}
