//! The skill for coding agents.

use std::path::Path;

use testkit::Site;

use super::shell::Shell;

/// The largest size of the skill, in tokens of about four characters.
const MAX_TOKENS: usize = 1_500;

/// A page whose refs are those that the skill mentions.
const PAGE: &str = "<title>Shop</title><main>
    <h1>Welcome</h1>
    <p>The price</p>
    <input aria-label=Name value=Ada>
    <button>More</button>
    <input type=checkbox aria-label=Terms>
    <p>Color</p>
    <select aria-label=Color><option>blue</option><option>red</option></select>
</main>";

#[testkit::test]
fn the_skill_is_short_and_has_front_matter() {
    let skill = Shell::new().ok(&["skill"]);
    let tokens = skill.chars().count().div_ceil(4);
    assert!(tokens <= MAX_TOKENS, "about {tokens} tokens");
    assert!(
        skill.starts_with("---\nname: playhouse\ndescription: "),
        "{skill}"
    );
}

/// Each block of the skill runs as it is, except that the example is a page of the fixture site and the tabs are closed before their number
/// matters.
#[testkit::test(chromium)]
async fn every_command_of_the_skill_works() {
    let site = Site::start().await;
    let url = site.add_page("/", PAGE);
    let shell = Shell::new();
    let skill = shell.ok(&["skill"]);
    let skill = skill
        .replace("https://example.com", &url)
        .replace("https://example.org", &url);
    let program = Path::new(env!("CARGO_BIN_EXE_playhouse"));
    let folder = program.parent().expect("a folder").display();
    let blocks = skill.split("```bash\n").skip(1);
    let mut commands = 0;
    for block in blocks.filter_map(|rest| rest.split("\n```").next()) {
        commands += block.matches("playhouse ").count();
        let mut shell = shell.program("sh");
        let script = format!("PATH={folder}:$PATH; set -e; {block}");
        let output = shell.arg("-c").arg(script).output().expect("it runs");
        assert!(output.status.success(), "{block}\n{output:?}");
    }
    assert!(commands > 25, "{commands}");
}
