#!/bin/sh
# packaging/build.sh [ARGUMENTS OF CARGO]: compiles the program that is released, to target/release/playhouse.
#
# The level of the program itself is that of the link-time pass. Without it, the pass does not vectorize the loops of crates that are
# compiled for speed, and compressing a screenshot takes three times as long.
set -e
cd "$(dirname "$0")/.."
exec "${CARGO:-cargo}" rustc --locked --release -p playhouse --bin playhouse "$@" -- -C opt-level=3
