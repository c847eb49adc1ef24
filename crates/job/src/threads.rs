//! The threads of a process.

use std::io;
use std::os::windows::io::{AsRawHandle as _, FromRawHandle as _, OwnedHandle};

use windows_sys::Win32::Foundation::INVALID_HANDLE_VALUE;
use windows_sys::Win32::System::Diagnostics::ToolHelp::{
    CreateToolhelp32Snapshot, TH32CS_SNAPTHREAD, THREADENTRY32, Thread32First, Thread32Next,
};
use windows_sys::Win32::System::Threading::{OpenThread, ResumeThread, THREAD_SUSPEND_RESUME};

/// Resumes a process that was started suspended: its only thread, which the standard library does not return.
pub(crate) fn resume(process: u32) -> io::Result<()> {
    let mut entry = THREADENTRY32 {
        dwSize: u32::try_from(size_of::<THREADENTRY32>()).unwrap_or_default(),
        ..THREADENTRY32::default()
    };
    #[expect(unsafe_code, reason = "only the system has a list of threads")]
    // SAFETY: the handles are checked and owned; the entry has its size, as the functions require.
    unsafe {
        let snapshot = CreateToolhelp32Snapshot(TH32CS_SNAPTHREAD, 0);
        if snapshot == INVALID_HANDLE_VALUE {
            return Err(io::Error::last_os_error());
        }
        let snapshot = OwnedHandle::from_raw_handle(snapshot);
        let mut more = Thread32First(snapshot.as_raw_handle(), &raw mut entry);
        while more != 0 {
            if entry.th32OwnerProcessID == process {
                let thread = OpenThread(THREAD_SUSPEND_RESUME, 0, entry.th32ThreadID);
                if thread.is_null() {
                    return Err(io::Error::last_os_error());
                }
                let thread = OwnedHandle::from_raw_handle(thread);
                return match ResumeThread(thread.as_raw_handle()) {
                    u32::MAX => Err(io::Error::last_os_error()),
                    _ => Ok(()),
                };
            }
            more = Thread32Next(snapshot.as_raw_handle(), &raw mut entry);
        }
    }
    Err(io::Error::other("the new process has no thread"))
}
