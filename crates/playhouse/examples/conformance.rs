//! The server with what the official conformance suite asks for besides; `make conformance` builds and asks it.

use std::process::ExitCode;

fn main() -> ExitCode {
    server::main()
}
