//! How the allocator keeps what is freed.

/// Has one heap, and gives large blocks back as soon as they are freed. A server reads pages of megabytes now and then and is idle
/// between, which the default of a heap for each thread answers with three times the memory; nothing here allocates enough to be slower.
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
            // What an allocator does not know it leaves as it is.
            let _ = unsafe { libc::mallopt(parameter, value) };
        }
    }
}
