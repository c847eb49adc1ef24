//! What HARs and traces have in common: the requests of a browser context with their bodies, and their entries in HTTP archives.

mod entry;
mod exchanges;

pub(crate) use entry::{Bodies, Body, entry, header};
pub(crate) use exchanges::{Exchanges, ReadOptions};
