//! Who may do what: principals and their permissions, the policy of the operator, URLs and files that no tool opens, and the record of
//! every call.

pub(crate) mod audit;
pub(crate) mod policy;
pub(crate) mod principal;
pub(crate) mod protected;
pub(crate) mod urls;
