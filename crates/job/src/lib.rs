//! Job objects of Windows: processes that end together, at the latest with the process that started them. Empty on other systems, which
//! have process groups.
//!
//! <https://learn.microsoft.com/windows/win32/procthread/job-objects>
#![cfg(windows)]

mod threads;

use std::ffi::c_void;
use std::io;
use std::mem;
use std::os::windows::io::{AsRawHandle as _, BorrowedHandle, FromRawHandle as _, OwnedHandle};
use std::os::windows::process::CommandExt as _;
use std::process::{Child, Command};
use std::ptr;
use std::sync::{Mutex, PoisonError};

use windows_sys::Win32::Foundation::{HANDLE_FLAG_INHERIT, SetHandleInformation};
use windows_sys::Win32::System::JobObjects::{
    AssignProcessToJobObject, CreateJobObjectW, JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE,
    JOBOBJECT_BASIC_ACCOUNTING_INFORMATION, JOBOBJECT_EXTENDED_LIMIT_INFORMATION,
    JobObjectBasicAccountingInformation, JobObjectExtendedLimitInformation,
    QueryInformationJobObject, SetInformationJobObject, TerminateJobObject,
};
use windows_sys::Win32::System::Threading::{
    CREATE_NO_WINDOW, CREATE_SUSPENDED, OpenProcess, PROCESS_SET_QUOTA, PROCESS_TERMINATE,
};

/// The creation flag of a process without a console window, which receives no Ctrl+C of this one.
pub const NO_WINDOW: u32 = CREATE_NO_WINDOW;

/// The creation flags of a child for [`Job::adopt`]: it must be in the job before it can start other processes.
pub const SUSPENDED: u32 = NO_WINDOW | CREATE_SUSPENDED;

/// The exit code of processes that were terminated with their job.
const TERMINATED: u32 = 1;

/// Held while a process is started: it inherits all handles that are inheritable at this moment.
static STARTING: Mutex<()> = Mutex::new(());

/// A job object. Its processes, and those that they start, are killed when it is dropped, and so when this process ends in any way.
#[derive(Debug)]
pub struct Job(OwnedHandle);

impl Job {
    /// Creates a job without processes.
    pub fn new() -> io::Result<Self> {
        #[expect(
            unsafe_code,
            reason = "a plain system call, whose result is a new handle"
        )]
        // SAFETY: null is allowed for both arguments; a handle that is not null is open and is used nowhere else.
        let job = unsafe {
            let handle = CreateJobObjectW(ptr::null(), ptr::null());
            if handle.is_null() {
                return Err(io::Error::last_os_error());
            }
            Self(OwnedHandle::from_raw_handle(handle))
        };
        job.set_limits(JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE)?;
        Ok(job)
    }

    /// Starts a process in the job. It has no window of a console, receives no Ctrl+C of this one, and inherits the given handles.
    pub fn spawn(
        &self,
        command: &mut Command,
        inherited: &[BorrowedHandle<'_>],
    ) -> io::Result<Child> {
        command.creation_flags(SUSPENDED);
        let mut child = {
            let _starting = STARTING.lock().unwrap_or_else(PoisonError::into_inner);
            let _inherited = Inheritable::new(inherited)?;
            command.spawn()?
        };
        self.adopt(child.id()).inspect_err(|_| {
            let _ = child.kill();
        })?;
        Ok(child)
    }

    /// Takes over a child that was started with [`SUSPENDED`] and whose handle is open, and resumes it.
    pub fn adopt(&self, child: u32) -> io::Result<()> {
        #[expect(unsafe_code, reason = "plain system calls on handles that are checked")]
        // SAFETY: a handle that is not null is open and is used nowhere else.
        unsafe {
            let process = OpenProcess(PROCESS_SET_QUOTA | PROCESS_TERMINATE, 0, child);
            if process.is_null() {
                return Err(io::Error::last_os_error());
            }
            let process = OwnedHandle::from_raw_handle(process);
            succeeded(AssignProcessToJobObject(
                self.0.as_raw_handle(),
                process.as_raw_handle(),
            ))?;
        }
        threads::resume(child)
    }

    /// Kills all processes of the job.
    pub fn kill(&self) {
        #[expect(unsafe_code, reason = "a plain system call on our own handle")]
        // SAFETY: the handle is that of a job.
        unsafe {
            TerminateJobObject(self.0.as_raw_handle(), TERMINATED);
        }
    }

    /// Returns whether all processes of the job have ended.
    pub fn is_empty(&self) -> bool {
        let mut counts = JOBOBJECT_BASIC_ACCOUNTING_INFORMATION::default();
        #[expect(
            unsafe_code,
            reason = "the system writes into a variable of its own type"
        )]
        // SAFETY: the class belongs to this structure, whose size is passed.
        let known = unsafe {
            QueryInformationJobObject(
                self.0.as_raw_handle(),
                JobObjectBasicAccountingInformation,
                ptr::from_mut(&mut counts).cast::<c_void>(),
                size_of(&counts),
                ptr::null_mut(),
            )
        };
        known == 0 || counts.ActiveProcesses == 0
    }

    /// Drops the job without ending its processes.
    pub fn release(self) {
        // It fails for no job that was created here; then the processes end.
        let _ = self.set_limits(0);
    }

    fn set_limits(&self, flags: u32) -> io::Result<()> {
        let mut limits = JOBOBJECT_EXTENDED_LIMIT_INFORMATION::default();
        limits.BasicLimitInformation.LimitFlags = flags;
        #[expect(unsafe_code, reason = "the system reads a variable of its own type")]
        // SAFETY: the class belongs to this structure, whose size is passed.
        let set = unsafe {
            SetInformationJobObject(
                self.0.as_raw_handle(),
                JobObjectExtendedLimitInformation,
                ptr::from_ref(&limits).cast::<c_void>(),
                size_of(&limits),
            )
        };
        succeeded(set)
    }
}

/// Handles that the next process inherits, until this is dropped.
struct Inheritable<'a>(&'a [BorrowedHandle<'a>]);

impl<'a> Inheritable<'a> {
    fn new(handles: &'a [BorrowedHandle<'a>]) -> io::Result<Self> {
        let guard = Self(handles);
        guard.set(HANDLE_FLAG_INHERIT)?;
        Ok(guard)
    }

    fn set(&self, flag: u32) -> io::Result<()> {
        self.0.iter().try_for_each(|handle| {
            #[expect(unsafe_code, reason = "a plain system call on an open handle")]
            // SAFETY: the handle is borrowed, so it is open.
            succeeded(unsafe {
                SetHandleInformation(handle.as_raw_handle(), HANDLE_FLAG_INHERIT, flag)
            })
        })
    }
}

impl Drop for Inheritable<'_> {
    fn drop(&mut self) {
        let _ = self.set(0);
    }
}

fn succeeded(result: i32) -> io::Result<()> {
    match result {
        0 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

/// Returns the size of a structure as the system requires it.
fn size_of<T>(_: &T) -> u32 {
    u32::try_from(mem::size_of::<T>()).unwrap_or_default()
}
