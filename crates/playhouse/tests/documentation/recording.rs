//! The terminal recording of the README: the transcript, which another test compares with the server, as an animated SVG.

use std::fmt::Write as _;

use expect_test::expect_file;

use crate::blocks::{Use, blocks};
use crate::root;

/// The size of a character and of a line, in pixels.
const CHARACTER: f32 = 8.4;
const LINE: usize = 22;
/// The time between two lines, in seconds.
const STEP: f32 = 0.5;

const STYLE: &str = "
text { font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace; white-space: pre; fill: #1f2328 }
rect { fill: #f6f8fa; stroke: #d1d9e0 }
.call { fill: #0550ae }
.changed { fill: #116329 }
g { animation: show 0.2s both }
@keyframes show { from { opacity: 0 } }
@media (prefers-reduced-motion: reduce) { g { animation: none } }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 }
  rect { fill: #151b23; stroke: #3d444d }
  .call { fill: #79c0ff }
  .changed { fill: #7ee787 }
}
";

fn svg(transcript: &str) -> String {
    let lines: Vec<_> = transcript.trim_end().lines().collect();
    let longest = lines.iter().map(|line| line.chars().count()).max();
    let width = (longest.expect("a line") as f32 * CHARACTER) as usize + 48;
    let height = lines.len() * LINE + 36;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" role=\"img\">\n\
         <title>Tool calls and the beginnings of their answers</title>\n<style>{STYLE}</style>\n\
         <rect x=\"0.5\" y=\"0.5\" width=\"{}\" height=\"{}\" rx=\"8\"/>\n",
        width - 1,
        height - 1
    );
    for (number, line) in lines.iter().enumerate() {
        let class = match line.trim_start().chars().next() {
            _ if !line.starts_with(' ') => "call",
            Some('+' | '~' | '-') => "changed",
            _ => "answer",
        };
        let text = line.replace('&', "&amp;").replace('<', "&lt;");
        let _ = writeln!(
            svg,
            "<g style=\"animation-delay: {:.1}s\"><text class=\"{class}\" x=\"24\" y=\"{}\" xml:space=\"preserve\">{text}</text></g>",
            number as f32 * STEP,
            number * LINE + 34,
        );
    }
    svg + "</svg>\n"
}

/// `UPDATE_EXPECT=1` writes the file.
#[testkit::test]
fn the_recording_shows_the_transcript() {
    let transcripts = blocks(|block_use| block_use == Use::Transcript);
    let [block] = &transcripts[..] else {
        panic!("there is one transcript");
    };
    expect_file![root().join("docs/transcript.svg")].assert_eq(&svg(&block.text));
}
