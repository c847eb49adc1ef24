//! What tools of several toolsets do alike. The toolsets map their parameters to it, and lay out the answer.

pub(super) mod evaluate;
pub(super) mod navigate;
pub(super) mod press;
pub(super) mod screenshot;
