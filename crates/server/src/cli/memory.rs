//! Settings of the memory allocator.

/// Configures one heap, and returns large blocks to the system as soon as they are freed. A server reads pages of megabytes occasionally
/// and is idle in between, for which a heap per thread would take three times the memory; nothing here allocates enough to be slower.
pub(super) fn economize() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        const LARGE: i32 = 128 * 1024;
        // https://man7.org/linux/man-pages/man3/mallopt.3.html
        let settings = [
            (libc::M_ARENA_MAX, 1),
            (libc::M_TRIM_THRESHOLD, LARGE),
            (libc::M_MMAP_THRESHOLD, LARGE),
        ];
        for (parameter, value) in settings {
            #[expect(
                unsafe_code,
                reason = "plain settings of the allocator, before there are threads"
            )]
            // The allocator ignores unknown parameters.
            let _ = unsafe { libc::mallopt(parameter, value) };
        }
    }
}
