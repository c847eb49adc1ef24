//! The parts of tools that several toolsets share. The toolsets map their parameters to them and format the answers.

pub(crate) mod cookies;
pub(crate) mod evaluate;
pub(crate) mod navigate;
pub(crate) mod press;
pub(crate) mod screenshot;
