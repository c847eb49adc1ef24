//! The kinds of blocks.

use crate::assert_none;
use crate::document::{Block, documents};

/// What the test does with the blocks of an info string.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Use {
    /// Runs it in a shell.
    Shell,
    /// Makes its calls with `playhouse run`.
    Script,
    /// Makes its calls and compares the answers.
    Transcript,
    /// Parses it, and gives the arguments of a client's configuration to the server.
    Client,
    /// Gives it to the server as the file of this option.
    File(&'static str),
    /// Gives its variables to the server.
    Variables,
    /// Gives the arguments of its service to the server.
    Service,
    /// Parses it as JSON.
    Json,
    /// Compiles it.
    Compile,
    /// Runs it with `browser_run_code_unsafe`.
    RunCode,
    /// Runs it with each page.
    InitPage,
    /// Offers it as a prompt.
    Prompt,
    /// Runs it as a spec.
    Spec,
    /// Runs it as the configuration of nginx, in front of a server.
    Nginx,
    /// Only the calls in it are compared with the schemas of their tools.
    Text,
    /// Nothing, for a reason.
    Nothing(&'static str),
}

/// The info strings of blocks.
pub(crate) const USES: [(&str, Use); 22] = [
    ("sh", Use::Shell),
    ("text script", Use::Script),
    ("text transcript", Use::Transcript),
    ("json", Use::Json),
    ("json client", Use::Client),
    ("toml client", Use::Client),
    ("json config", Use::File("--config")),
    ("jsonc policy", Use::File("--policy")),
    ("text keys", Use::File("--api-keys")),
    ("dockerfile variables", Use::Variables),
    ("ini service", Use::Service),
    ("js", Use::Compile),
    ("ts", Use::Compile),
    ("js run-code", Use::RunCode),
    ("js init-page", Use::InitPage),
    ("markdown prompt", Use::Prompt),
    ("markdown spec", Use::Spec),
    ("nginx", Use::Nginx),
    ("text", Use::Text),
    ("yaml", Use::Nothing("a file of another program")),
    ("text usage", Use::Nothing("grammar of a command")),
    (
        "markdown parity",
        Use::Nothing("needs the npm package; `make parity` reads such files"),
    ),
];

/// Returns the use of a block; `None` for an unknown info string.
pub(crate) fn use_of(block: &Block) -> Option<Use> {
    let found = USES.iter().find(|(info, _)| *info == block.info);
    found.map(|(_, block_use)| *block_use)
}

/// Returns the blocks with this use.
pub(crate) fn blocks(wanted: impl Fn(Use) -> bool) -> Vec<Block> {
    let blocks = documents().into_iter().flat_map(|document| document.blocks);
    let mut found: Vec<_> = blocks
        .filter(|block| use_of(block).is_some_and(&wanted))
        .collect();
    found.sort_by(|one, other| one.place.cmp(&other.place));
    assert!(!found.is_empty(), "no block has this use");
    found
}

#[testkit::test]
fn each_block_has_a_use() {
    let blocks = documents().into_iter().flat_map(|document| document.blocks);
    let unknown = blocks.filter(|block| use_of(block).is_none());
    assert_none(
        unknown
            .map(|block| {
                format!(
                    "{}: `{}` is no use (blocks.rs lists them)",
                    block.place, block.info
                )
            })
            .collect(),
    );
}

/// Blocks that are not executed need a reason to exist. A larger number needs a better test.
#[testkit::test]
fn at_most_four_blocks_are_not_executed() {
    let skipped = blocks(|block_use| matches!(block_use, Use::Nothing(_)));
    let places: Vec<_> = skipped.iter().map(|block| &*block.place).collect();
    assert!(places.len() <= 4, "{places:?}");
}
