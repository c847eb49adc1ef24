//! Resolves the folders of files, and the files that no tool may access.

use std::path::{Path, PathBuf};

use super::required;
use super::tls::key_files;
use crate::config::{
    environment::Environment,
    options::Options,
    paths,
    secrets::SecretsSource,
    settings::{FileSettings, StateKey, VideoSettings},
    value::{Bytes, CommaList, RecordVideo},
};

/// Returns the settings of files. `protected` is the result of [`protected`].
pub(super) fn files(
    options: &Options,
    environment: &Environment,
    cwd: &Path,
    protected: Vec<PathBuf>,
) -> FileSettings {
    let CommaList(readable) = options.readable_roots.or_empty();
    FileSettings {
        cwd: cwd.to_owned(),
        output_dir: options.output_dir.value().map(|path| cwd.join(path)),
        output_max_size: Some(required(&options.output_max_size))
            .map(|Bytes(bytes)| bytes)
            .filter(|bytes| *bytes > 0),
        workspace_root: options.workspace_root.value().map(|path| cwd.join(path)),
        readable: readable.into_iter().map(PathBuf::from).collect(),
        client_paths: required(&options.client_paths),
        quarantine: required(&options.quarantine_downloads),
        protected,
        state_key: options.state_key.value().map(StateKey::new),
        runtime_dir: environment.path("XDG_RUNTIME_DIR"),
        owner: None,
        save_session: required(&options.save_session),
        video: VideoSettings {
            ffmpeg: required(&options.ffmpeg),
            save: options.save_video.value(),
            record: options
                .record_video
                .value()
                .map(|RecordVideo { dir, size }| (cwd.join(dir), size)),
        },
        save_trace: required(&options.save_trace),
        traces_dir: options.traces_dir.value().map(|path| cwd.join(path)),
        unrestricted: required(&options.allow_unrestricted_file_access),
        profiles: profiles(environment),
        browsers: paths::playhouse_cache(environment).join("browsers"),
        download_index: required(&options.download_index),
    }
}

/// Returns the files and folders that hold configuration, keys, secrets, profiles or state: those that the options name, and those of
/// Playhouse and of the user's browsers. Must be called before [`secrets`](super::secrets), which removes the path from the options.
pub(super) fn protected(options: &Options, environment: &Environment, cwd: &Path) -> Vec<PathBuf> {
    let secrets = match options.secrets.value() {
        Some(SecretsSource::File(path)) => Some(path),
        Some(SecretsSource::Inline(_)) | None => None,
    };
    let named = [
        options.config.value(),
        secrets,
        options.api_keys.value(),
        options.tls_key.value(),
        options.policy.value(),
        options.audit_log.value(),
        options.log_file.value(),
        options.audit_log.value(),
        options.policy.value(),
        options.user_data_dir.value(),
        options.prompts_dir.value(),
        options.executable_path.value(),
    ];
    let scripts = options.init_script.or_empty().0.into_iter();
    let scripts = scripts.chain(options.init_page.or_empty().0);
    let older_logs = options.log_file.value().into_iter().flat_map(|path| {
        // Rotated log files have these suffixes.
        [".1", ".2"].map(|end| {
            let mut name = path.clone().into_os_string();
            name.push(end);
            PathBuf::from(name)
        })
    });
    let named = named.into_iter().flatten().chain(scripts);
    let named = named.chain(older_logs).chain(key_files(options));
    let mut protected: Vec<_> = named.map(|path| cwd.join(path)).collect();
    protected.push(profiles(environment));
    protected.push(paths::playhouse_cache(environment));
    protected.extend(paths::state(environment));
    protected.extend(paths::profiles(environment).into_iter().map(|(_, at)| at));
    protected
}

/// Returns the folder of persistent profiles.
fn profiles(environment: &Environment) -> PathBuf {
    environment
        .path("PWMCP_PROFILES_DIR_FOR_TEST")
        .unwrap_or_else(|| paths::playhouse_cache(environment).join("profiles"))
}
