//! Giving memory back to the system.

/// Gives back what was freed. The facts of a large page are many small pieces, and whatever was kept after them holds all of their pages.
/// Takes less than a millisecond, and as much again for pages that are used anew.
pub(crate) fn release_free_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        #[expect(unsafe_code, reason = "it moves nothing that is in use")]
        // https://man7.org/linux/man-pages/man3/malloc_trim.3.html
        let _ = unsafe { libc::malloc_trim(0) };
    }
}
