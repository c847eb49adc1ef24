//! Access control: principals and their permissions, the policy of the operator, protected URLs and files, and the audit log.

pub(crate) mod audit;
pub(crate) mod policy;
pub(crate) mod principal;
pub(crate) mod protected;
pub(crate) mod restrictions;
pub(crate) mod urls;
