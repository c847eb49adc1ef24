//! What tools of several toolsets do alike. The toolsets map their parameters to it, and lay out the answer.

pub(crate) mod evaluate;
pub(crate) mod navigate;
pub(crate) mod press;
pub(crate) mod screenshot;
