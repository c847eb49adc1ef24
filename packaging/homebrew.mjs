// Writes target/release-files/playhouse.rb, the Homebrew formula, from the SHA256SUMS in that folder.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { repository, root, version } from "./release.mjs";

const folder = join(root, "target/release-files");
const sums = readFileSync(join(folder, "SHA256SUMS"), "utf8");

/** Returns the lines of the formula that name the archive of a target. */
const archive = (target) => {
  const file = `playhouse-${target}.tar.gz`;
  const [, sum] = new RegExp(`^([0-9a-f]{64}) [ *]${file}$`, "m").exec(sums) ?? assert.fail(`SHA256SUMS has no checksum of ${file}`);
  return `url "${repository}/releases/download/v${version}/${file}"\n      sha256 "${sum}"`;
};

/** Returns the block of an operating system. */
const block = (system, arm, intel) => `  on_${system} do
    on_arm do
      ${archive(arm)}
    end
    on_intel do
      ${archive(intel)}
    end
  end
`;

writeFileSync(
  join(folder, "playhouse.rb"),
  `class Playhouse < Formula
  desc "MCP server that gives AI agents real browsers"
  homepage "${repository}"
  version "${version}"
  license "Apache-2.0"

${block("macos", "aarch64-apple-darwin", "x86_64-apple-darwin")}
${block("linux", "aarch64-unknown-linux-gnu", "x86_64-unknown-linux-gnu")}
  def install
    bin.install "playhouse"
    generate_completions_from_executable(bin/"playhouse", "completions")
    (man1/"playhouse.1").write Utils.safe_popen_read(bin/"playhouse", "man")
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/playhouse --version")
    assert_match "browser_navigate", shell_output("#{bin}/playhouse tools --json")
  end
end
`,
);
