#!/bin/sh
# Installs playhouse from the releases on GitHub:
#
#   curl -fsSL https://github.com/playhouse-dev/playhouse/releases/latest/download/install.sh | sh
#
# Options, after `sh -s --`: --version X.Y.Z, --dir FOLDER (default: ~/.local/bin), --libc gnu|musl.
set -eu

REPOSITORY=https://github.com/playhouse-dev/playhouse

fail() {
  echo "install.sh: $1" >&2
  exit 1
}

# Whether the C library of this system is musl, or a glibc older than the version in packaging/targets.json, which the builds need.
needs_musl() {
  glibc=$(getconf GNU_LIBC_VERSION 2>/dev/null) || return 0
  minor=${glibc##*.}
  case $glibc in
    "glibc 2."*) [ "$minor" -lt 35 ] ;;
    *) return 0 ;;
  esac
}

find_target() {
  case $(uname -m) in
    x86_64 | amd64) arch=x86_64 ;;
    aarch64 | arm64) arch=aarch64 ;;
    *) fail "there is no build for the processor $(uname -m); see $REPOSITORY#install" ;;
  esac
  case $(uname -s) in
    Linux)
      if [ -z "$libc" ]; then
        libc=gnu
        if needs_musl; then libc=musl; fi
      fi
      target=$arch-unknown-linux-$libc
      ;;
    Darwin)
      # A shell that Rosetta translates reports an Intel processor.
      if [ "$(sysctl -n hw.optional.arm64 2>/dev/null || true)" = 1 ]; then arch=aarch64; fi
      target=$arch-apple-darwin
      ;;
    *) fail "there is no build for $(uname -s) that this script installs; see $REPOSITORY#install" ;;
  esac
}

download() {
  if command -v curl >/dev/null 2>&1; then
    curl -fsSL --retry 3 -o "$2" "$1" || fail "cannot download $1"
  elif command -v wget >/dev/null 2>&1; then
    wget -qO "$2" "$1" || fail "cannot download $1"
  else
    fail "neither curl nor wget is installed"
  fi
}

checksum() {
  if command -v sha256sum >/dev/null 2>&1; then
    sha256sum "$1"
  elif command -v shasum >/dev/null 2>&1; then
    shasum -a 256 "$1"
  else
    fail "neither sha256sum nor shasum is installed, so the download cannot be verified"
  fi | cut -d ' ' -f 1
}

main() {
  version=
  libc=
  folder=${HOME:?}/.local/bin
  while [ $# -gt 0 ]; do
    [ $# -gt 1 ] || fail "$1 needs a value"
    case $1 in
      --version) version=${2#v} ;;
      --dir) folder=$2 ;;
      --libc) libc=$2 ;;
      *) fail "unknown option $1" ;;
    esac
    shift 2
  done
  find_target
  archive=playhouse-$target.tar.gz
  # A mirror, or the folder of a test.
  releases=${PLAYHOUSE_RELEASES:-$REPOSITORY/releases}
  if [ -n "$version" ]; then from=$releases/download/v$version; else from=$releases/latest/download; fi

  temporary=$(mktemp -d)
  new=$folder/.playhouse.new
  trap 'rm -rf "$temporary" "$new"' EXIT
  trap 'exit 1' HUP INT TERM
  download "$from/$archive" "$temporary/$archive"
  download "$from/SHA256SUMS" "$temporary/SHA256SUMS"
  expected=$(while read -r sum name; do
    if [ "${name#\*}" = "$archive" ]; then echo "$sum"; fi
  done <"$temporary/SHA256SUMS")
  [ -n "$expected" ] || fail "$from/SHA256SUMS has no checksum of $archive"
  actual=$(checksum "$temporary/$archive")
  [ "$actual" = "$expected" ] || fail "the checksum of $archive is $actual; SHA256SUMS has $expected"

  tar -xzf "$temporary/$archive" -C "$temporary"
  mkdir -p "$folder"
  cp "$temporary/playhouse-$target/playhouse" "$new"
  chmod 755 "$new"
  "$new" --version || fail "the program for $target does not run here; nothing was installed (on Linux, try --libc musl)"
  # Renamed within the folder, so that a running program stays as it is.
  mv -f "$new" "$folder/playhouse"
  # `playhouse upgrade` reads it: one folder on each line.
  record=${XDG_DATA_HOME:-$HOME/.local/share}/playhouse/installed-by-script
  mkdir -p "$(dirname "$record")"
  resolved=$(cd "$folder" && pwd -P)
  grep -qxF "$resolved" "$record" 2>/dev/null || echo "$resolved" >>"$record"

  echo "installed: $folder/playhouse"
  case :$PATH: in
    *":$folder:"*) ;;
    *) echo "$folder is not in PATH; add it: export PATH=\"$folder:\$PATH\"" ;;
  esac
  echo "next: playhouse install && playhouse setup claude"
}

# The last line, so that an incomplete download of this script does nothing.
main "$@"
