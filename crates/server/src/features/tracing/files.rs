//! The files of a trace: events are appended while the context is used, and packed into an archive at the end.

use super::events::Batch;
use super::resources::Resources;
use crate::config::Secrets;
use crate::error::{Error, Result};
use crate::files::Output;
use crate::files::artifacts::ArtifactInfo;
use ring::digest;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// The folder of bodies, images and sources.
const RESOURCES: &str = "resources";

/// The links of the files of a trace.
#[derive(Debug, Clone)]
pub(crate) struct TraceLinks {
    /// The file with the calls and their snapshots.
    pub(crate) trace: String,
    /// The file with the requests.
    pub(crate) network: String,
    /// The folder with bodies and images.
    pub(crate) resources: String,
    /// The archive of all of them, which exists after the end of the trace.
    pub(crate) archive: String,
}

/// The files of a trace.
#[derive(Clone)]
pub(super) struct TraceFiles {
    output: Output,
    folder: PathBuf,
    /// The name without an extension, such as `trace-1795248561218`.
    pub(super) name: String,
    pub(super) links: TraceLinks,
    /// The names of the resources of this trace.
    resources: Arc<Mutex<BTreeSet<String>>>,
}

impl TraceFiles {
    /// Creates the files of a trace that begins now.
    pub(super) async fn create(output: &Output) -> Result<Self> {
        let output = output.clone();
        let folder = output.traces();
        let created = {
            let (output, folder) = (output.clone(), folder.clone());
            move || -> io::Result<String> {
                output.make_traces_folder()?;
                let now = SystemTime::now().duration_since(UNIX_EPOCH);
                let mut time = now.unwrap_or_default().as_millis();
                loop {
                    let name = format!("trace-{time}");
                    match output.create_file(&folder.join(format!("{name}.trace"))) {
                        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => time += 1,
                        created => {
                            created?;
                            output.append_bytes(&folder.join(format!("{name}.network")), &[])?;
                            return Ok(name);
                        }
                    }
                }
            }
        };
        let name = tokio::task::spawn_blocking(created).await;
        let name = name.unwrap_or_else(|panic| Err(io::Error::other(panic)));
        let name = name.map_err(|error| Error::file(&folder, "open", &error))?;
        let link = |extension: &str| output.link(&folder.join(format!("{name}.{extension}")));
        let links = TraceLinks {
            trace: link("trace"),
            network: link("network"),
            archive: link("zip"),
            resources: output.link(&folder.join(RESOURCES)),
        };
        let files = Self {
            output,
            folder,
            name,
            links,
            resources: Arc::default(),
        };
        for extension in ["trace", "network"] {
            files.register(extension);
        }
        Ok(files)
    }

    /// Appends the events of a batch. Secrets are masked.
    pub(super) async fn write(&self, batch: Batch, secrets: &Secrets) {
        let (mut files, secrets) = (self.clone(), secrets.clone());
        let work = move || {
            let text = batch.render(&secrets, &mut files)?;
            files.append(&files.path("trace"), &text.trace)?;
            files.append(&files.path("network"), &text.network)?;
            if !text.calls.is_empty() {
                let name = files.source_name();
                files.append(&files.resource(&name), &text.calls)?;
                files.add(name);
            }
            Ok::<_, io::Error>(())
        };
        let done = tokio::task::spawn_blocking(work).await;
        if let Err(error) = done.unwrap_or_else(|panic| Err(io::Error::other(panic))) {
            tracing::warn!(%error, trace = self.name, "the trace cannot be written");
        }
    }

    /// Returns the name of the file that the viewer shows as the source of calls.
    pub(super) fn source(&self) -> String {
        format!("{}.calls.js", self.name)
    }

    /// Returns the name of the resource with the source of calls, which the viewer derives from the name of the file.
    fn source_name(&self) -> String {
        format!("src@{}.txt", sha1(self.source().as_bytes()))
    }

    /// Writes the archive of the trace.
    pub(super) async fn pack(&self) -> io::Result<()> {
        let files = self.clone();
        let packed = tokio::task::spawn_blocking(move || files.write_archive()).await;
        packed.unwrap_or_else(|panic| Err(io::Error::other(panic)))
    }

    fn write_archive(&self) -> io::Result<()> {
        let path = self.archive();
        self.register("zip");
        let mut archive = ZipWriter::new(self.output.create_file(&path)?);
        for (name, extension) in [("trace.trace", "trace"), ("trace.network", "network")] {
            self.pack_file(&mut archive, name, &self.path(extension))?;
        }
        let resources = self.resources.lock();
        let resources = resources.unwrap_or_else(PoisonError::into_inner).clone();
        for name in resources {
            // --output-max-size may have removed it.
            match self.pack_file(
                &mut archive,
                &format!("{RESOURCES}/{name}"),
                &self.resource(&name),
            ) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        let file = archive.finish()?;
        let size = file.metadata()?.len();
        self.output
            .count(usize::try_from(size).unwrap_or(usize::MAX));
        Ok(())
    }

    fn pack_file(&self, archive: &mut ZipWriter<File>, name: &str, path: &Path) -> io::Result<()> {
        let mut file = File::open(path)?;
        archive.start_file(name, SimpleFileOptions::default())?;
        io::copy(&mut file, archive).map(drop)
    }

    /// Returns the path of the archive.
    pub(super) fn archive(&self) -> PathBuf {
        self.path("zip")
    }

    fn path(&self, extension: &str) -> PathBuf {
        self.folder.join(format!("{}.{extension}", self.name))
    }

    fn resource(&self, name: &str) -> PathBuf {
        self.folder.join(RESOURCES).join(name)
    }

    fn append(&self, path: &Path, text: &str) -> io::Result<()> {
        match text.is_empty() {
            true => Ok(()),
            false => self.output.append_bytes(path, text.as_bytes()),
        }
    }

    fn add(&self, name: String) {
        let resources = self.resources.lock();
        resources
            .unwrap_or_else(PoisonError::into_inner)
            .insert(name);
    }

    /// Traces contain cookies and headers of requests.
    fn register(&self, extension: &str) {
        let note = ArtifactInfo {
            guarded: true,
            named_by_client: false,
        };
        self.output.artifacts().add(&self.path(extension), note);
    }
}

impl Resources for TraceFiles {
    fn write_as(&mut self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let path = self.resource(name);
        if !path.exists() {
            self.output.append_bytes(&path, bytes)?;
        }
        self.add(name.to_owned());
        Ok(())
    }

    fn write_hashed(&mut self, extension: &str, bytes: &[u8]) -> io::Result<String> {
        let name = format!("{}.{extension}", sha1(bytes));
        self.write_as(&name, bytes)?;
        Ok(name)
    }
}

/// Returns the SHA-1 in hexadecimal digits, which names resources and is no protection.
fn sha1(bytes: &[u8]) -> String {
    let digest = digest::digest(&digest::SHA1_FOR_LEGACY_USE_ONLY, bytes);
    digest.as_ref().iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}
