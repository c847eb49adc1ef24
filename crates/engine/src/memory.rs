//! Returning free memory to the system.

/// Returns free memory to the system. The facts of a large page are many small allocations, and later allocations keep all of their memory
/// pages reserved. Takes less than a millisecond, and as much again for memory that is reused.
pub(crate) fn release_free_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        #[expect(unsafe_code, reason = "it moves nothing that is in use")]
        // https://man7.org/linux/man-pages/man3/malloc_trim.3.html
        let _ = unsafe { libc::malloc_trim(0) };
    }
}
