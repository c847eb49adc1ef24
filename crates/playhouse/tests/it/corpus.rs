//! The attack corpus (`crates/testkit/corpus/`), on each engine, through the built server.

mod proxies;
mod ways_out;
