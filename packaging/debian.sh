#!/bin/sh
# Writes target/release-files/playhouse_ARCHITECTURE.deb. Arguments: PROGRAM ARCHITECTURE (amd64 or arm64)
# The program must run on this machine: it writes its manual and its completions.
set -eu
program=$(realpath "$1") architecture=$2
cd "$(dirname "$0")/.."

# The lowest version of glibc on which the program runs.
glibc=$(sed -n "s/.*\"glibc\": \"\([0-9.]*\)\".*\"deb\": \"$architecture\".*/\1/p" packaging/targets.json)
if [ -z "$glibc" ]; then
  echo "debian.sh: packaging/targets.json has no Debian package for $architecture" >&2
  exit 1
fi
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -n 1)
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
umask 022
chmod 755 "$root"
install -D -m 755 "$program" "$root/usr/bin/playhouse"
share=$root/usr/share
mkdir -p "$share/man/man1" "$share/bash-completion/completions" "$share/zsh/vendor-completions" \
  "$share/fish/vendor_completions.d" "$share/doc/playhouse" "$root/DEBIAN" target/release-files
"$program" man | gzip -9n >"$share/man/man1/playhouse.1.gz"
"$program" completions bash >"$share/bash-completion/completions/playhouse"
"$program" completions zsh >"$share/zsh/vendor-completions/_playhouse"
"$program" completions fish >"$share/fish/vendor_completions.d/playhouse.fish"
cp README.md NOTICE "$share/doc/playhouse/"
gzip -9n <CHANGELOG.md >"$share/doc/playhouse/CHANGELOG.md.gz"
cat >"$share/doc/playhouse/copyright" <<'COPYRIGHT'
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: playhouse
Source: https://github.com/playhouse-dev/playhouse

Files: *
Copyright: The Playhouse authors
License: Apache-2.0
 On Debian systems, the license is in /usr/share/common-licenses/Apache-2.0.
 The file NOTICE names the parts by others.
COPYRIGHT
cat >"$root/DEBIAN/control" <<CONTROL
Package: playhouse
Version: $version
Architecture: $architecture
Maintainer: The Playhouse authors <playhouse@users.noreply.github.com>
Installed-Size: $(du -sk "$root/usr" | cut -f 1)
Depends: libc6 (>= $glibc), libgcc-s1
Recommends: chromium | google-chrome-stable | firefox-esr | firefox
Suggests: ffmpeg, libwebkit2gtk-4.1-0, xvfb
Section: web
Priority: optional
Homepage: https://github.com/playhouse-dev/playhouse
Description: MCP server that gives AI agents real browsers
 Playhouse drives Chromium, Firefox and WebKit natively. It has the tools,
 parameters and answers of @playwright/mcp, and needs no Node.js.
CONTROL
dpkg-deb --build --root-owner-group "$root" "target/release-files/playhouse_$architecture.deb"
