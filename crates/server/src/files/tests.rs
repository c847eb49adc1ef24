use super::*;
use crate::access::principal::Permission;
use crate::error::FileRule;
use output_folder::FOLDER;

/// Returns the files of a server in this folder, with further settings.
fn with(workspace: &Path, change: impl FnOnce(&mut FileSettings)) -> Output {
    let mut settings = Settings::of_flags(&["--headless"]);
    settings.files.cwd = workspace.to_owned();
    change(&mut settings.files);
    let workspace = Workspace::of(Vec::new(), &settings.files);
    Output::new(&settings, &workspace, None, Artifacts::default())
}

fn output(workspace: &Path) -> Output {
    with(workspace, |_| {})
}

/// Returns the files of a caller with all permissions.
fn files(workspace: &Path) -> FileAccess {
    FileAccess::new(output(workspace), Permission::Admin)
}

/// Returns the rule that the call breaks.
fn rule(outcome: Result<impl Sized>) -> Option<FileRule> {
    match outcome {
        Err(Error::FileRefused { rule, .. }) => Some(rule),
        Err(error) => panic!("{error}"),
        Ok(_) => None,
    }
}

#[test]
fn links_are_relative_and_a_bare_name_is_marked_as_a_file() {
    let output = output(Path::new("/w/a"));
    assert_eq!(output.link(Path::new("/w/a/shot.png")), "./shot.png");
    assert_eq!(
        output.link(Path::new("/w/a/.playwright-mcp/p.yml")),
        ".playwright-mcp/p.yml"
    );
    assert_eq!(output.link(Path::new("/w/b/p.yml")), "../b/p.yml");
}

#[test]
fn files_stay_below_the_roots() {
    let folder = tempfile::tempdir().unwrap();
    let files = files(folder.path());
    assert!(files.writable("a.txt").is_ok());
    assert!(files.writable("not/there/yet.txt").is_ok());
    let is_denied =
        |outcome: Option<Error>| matches!(outcome, Some(Error::FileAccessDenied { .. }));
    for outside in ["/etc/passwd", "../x", "a/../../x"] {
        assert!(is_denied(files.readable(outside).err()), "{outside}");
        assert!(is_denied(files.writable(outside).err()), "{outside}");
    }
}

#[cfg(unix)]
#[test]
fn a_link_does_not_lead_out() {
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink("/etc", folder.path().join("etc")).unwrap();
    assert!(files(folder.path()).writable("etc/passwd").is_err());
    // A link to a missing file is also rejected: writing would create it.
    let nothing = tempfile::tempdir().unwrap().path().join("new/file");
    std::os::unix::fs::symlink(nothing, folder.path().join("new")).unwrap();
    assert!(files(folder.path()).writable("new").is_err());
    assert!(files(folder.path()).writable("new/x.txt").is_err());
    std::os::unix::fs::symlink("inside", folder.path().join("link")).unwrap();
    assert!(files(folder.path()).writable("link").is_ok());
}

#[cfg(unix)]
#[test]
fn a_link_to_what_is_not_there_yet_does_not_lead_out() {
    use std::os::unix::fs::symlink;
    let (folder, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let at = |name: &str| folder.path().join(name);
    symlink(outside.path().join("new.txt"), at("out.txt")).unwrap();
    symlink("out.txt", at("twice.txt")).unwrap();
    symlink("../escaped.txt", at("up.txt")).unwrap();
    symlink("circle", at("circle")).unwrap();
    symlink("not-yet.txt", at("inside.txt")).unwrap();
    let files = files(folder.path());
    for outside in ["out.txt", "twice.txt", "up.txt", "circle", "circle/a.txt"] {
        assert!(
            matches!(files.writable(outside), Err(Error::FileAccessDenied { .. })),
            "{outside}"
        );
    }
    assert!(files.writable("inside.txt").is_ok());
}

#[cfg(unix)]
#[tokio::test]
async fn an_output_folder_that_is_a_link_out_of_the_workspace_is_refused() {
    use std::os::unix::fs::symlink;
    let (folder, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    symlink(outside.path(), folder.path().join(FOLDER)).unwrap();
    let inside = format!("{FOLDER}/secret");
    let files = files(folder.path());
    assert!(matches!(
        files.writable(&inside),
        Err(Error::FileAccessDenied { roots, .. }) if roots.len() == 1
    ));
    assert!(matches!(
        files.automatic("page", "yml").await,
        Err(Error::File { .. })
    ));
    assert!(files.downloads().is_err());
    assert!(files.make("console-*.log").is_err());
    assert_eq!(outside.path().read_dir().unwrap().count(), 0);

    // The operator who configures the folder knows where it leads.
    let chosen = |files: &mut FileSettings| files.output_dir = Some(folder.path().join(FOLDER));
    let files = FileAccess::new(with(folder.path(), chosen), Permission::Admin);
    assert!(files.writable(&inside).is_ok());
    assert!(files.automatic("page", "yml").await.is_ok());
    assert!(files.downloads().is_ok());
}

#[test]
fn a_root_that_does_not_exist_has_a_profile_and_no_files() {
    let (cwd, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (cwd, there) = (cwd.path(), there.path());
    let gone = Path::new("/not/of/this/machine");
    let of = |roots: &[&Path]| {
        let mut settings = Settings::of_flags(&["--headless"]);
        settings.files.cwd = cwd.to_owned();
        let roots = roots.iter().map(|root| root.to_path_buf());
        let workspace = Workspace::of(roots.collect(), &settings.files);
        (workspace.folder, workspace.project)
    };
    let both = |folder: &Path, project: &Path| (folder.to_owned(), project.to_owned());
    assert_eq!(of(&[]), both(cwd, cwd));
    assert_eq!(of(&[gone]), both(cwd, gone));
    assert_eq!(of(&[gone, there]), both(there, gone));
    assert_eq!(of(&[there, gone]), both(there, there));
}

#[tokio::test]
async fn automatic_file_names_are_unique() {
    let folder = tempfile::tempdir().unwrap();
    let output = output(folder.path());
    let made = (0..200).map(|_| output.automatic("page", "yml"));
    let made = futures_util::future::join_all(made).await;
    let paths: std::collections::BTreeSet<_> =
        made.into_iter().map(|file| file.unwrap().path).collect();
    assert_eq!(paths.len(), 200);
    let there = std::fs::read_dir(&output.folder).unwrap().flatten();
    let there: std::collections::BTreeSet<_> = there.map(|entry| entry.path()).collect();
    assert!(paths.is_subset(&there) && there.len() == 201, "{there:?}");
}

#[tokio::test]
async fn a_scope_covers_files() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["fixtures", FOLDER] {
        std::fs::create_dir(folder.path().join(name)).unwrap();
    }
    let there = format!("{FOLDER}/there.txt");
    for name in ["a.txt", "fixtures/a.txt", there.as_str()] {
        std::fs::write(folder.path().join(name), "x").unwrap();
    }
    let new = format!("{FOLDER}/new.txt");
    let output = with(folder.path(), |files| {
        files.readable = vec!["fixtures".into()];
    });
    let of = |permission| FileAccess::new(output.clone(), permission);

    let read = of(Permission::Read);
    for name in [
        "a.txt",
        "fixtures/a.txt",
        "new.txt",
        ".playwright-mcp/../new.txt",
    ] {
        let refused = rule(read.writable(name));
        assert_eq!(refused, Some(FileRule::CreatesOnly), "{name}");
    }
    assert_eq!(rule(read.writable(&there)), Some(FileRule::NeverOverwrites));
    assert_eq!(rule(read.readable(&there)), Some(FileRule::ReadsRootsOnly));
    let file = read.writable(&new).unwrap();
    read.write(&file, "1".to_owned()).await.unwrap();
    // Another process created it after the check.
    assert!(read.write(&file, "2".to_owned()).await.is_err());
    assert_eq!(output.read(&file.path).await.unwrap(), b"1");

    let act = of(Permission::Act);
    for name in ["a.txt", there.as_str()] {
        assert_eq!(rule(act.writable(name)), None, "{name}");
        assert_eq!(rule(act.readable(name)), Some(FileRule::ReadsRootsOnly));
    }
    assert_eq!(rule(act.readable("fixtures/a.txt")), None);
    let led = rule(act.readable("fixtures/../a.txt"));
    assert_eq!(led, Some(FileRule::ReadsRootsOnly));
    // The session wrote it, and it is not a storage state.
    assert_eq!(rule(act.readable(&new)), None);
    let file = act.writable(&new).unwrap();
    act.write_sensitive(&file, "login".to_owned())
        .await
        .unwrap();
    assert_eq!(rule(act.readable(&new)), Some(FileRule::ReadsRootsOnly));

    let admin = of(Permission::Admin);
    for name in ["a.txt", "fixtures/a.txt", there.as_str(), new.as_str()] {
        assert_eq!(rule(admin.readable(name)), None, "{name}");
        assert_eq!(rule(admin.writable(name)), None, "{name}");
    }
}

#[test]
fn a_server_may_name_all_files_itself() {
    let folder = tempfile::tempdir().unwrap();
    let output = with(folder.path(), |files| files.client_paths = false);
    let files = FileAccess::new(output, Permission::Admin);
    let refused = Some(FileRule::NoClientPaths);
    assert_eq!(rule(files.writable("a.txt")), refused);
    assert_eq!(rule(files.readable("a.txt")), refused);
}

#[cfg(unix)]
#[tokio::test]
async fn files_with_logins_are_private_to_their_owner() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let files = files(folder.path());
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    let before = folder.path().join("before.json");
    std::fs::write(&before, "a longer text than the next").unwrap();
    std::fs::set_permissions(&before, std::fs::Permissions::from_mode(0o644)).unwrap();
    for name in ["before.json", "new.json", "deep/new.json"] {
        let file = files.writable(name).unwrap();
        files.write_sensitive(&file, "{}".to_owned()).await.unwrap();
        assert_eq!(mode(&file.path), 0o600, "{name}");
        assert_eq!(std::fs::read(&file.path).unwrap(), b"{}");
    }
    let file = files.automatic("storage-state", "json").await.unwrap();
    assert_eq!(mode(&file.path), 0o600);
    assert_eq!(mode(files.folder()), 0o700);
    let log = files.make("console-*.log").unwrap();
    files.append(&log, "a").unwrap();
    files.append(&log, "b").unwrap();
    assert_eq!(std::fs::read(&log).unwrap(), b"ab");
    assert_eq!(mode(&log), 0o600);
}

#[tokio::test]
async fn no_scope_reaches_protected_files() {
    let folder = tempfile::tempdir().unwrap();
    let keys = folder.path().join("keys.txt");
    std::fs::write(&keys, "ada adaskey").unwrap();
    let protected = Some(FileRule::Protected);
    for unrestricted in [false, true] {
        let output = with(folder.path(), |files| {
            files.protected = vec![keys.clone()];
            files.readable = vec![".".into()];
            files.unrestricted = unrestricted;
        });
        for permission in Permission::ALL {
            let files = FileAccess::new(output.clone(), permission);
            assert_eq!(rule(files.readable("keys.txt")), protected);
            if permission > Permission::Read {
                for name in ["keys.txt", ".git/hooks/pre-commit"] {
                    assert_eq!(rule(files.writable(name)), protected, "{name}");
                }
            }
            let folder = files.upload(".", "upload_file").await;
            assert_eq!(rule(folder), Some(FileRule::FolderHoldsProtected));
        }
        // As if it had been created after the check.
        assert!(output.read(&keys).await.is_err());
        let file = output.linked(keys.clone(), FileOrigin::Client);
        let written = output.write(&file, "mallory hers".to_owned()).await;
        assert!(written.is_err());
        assert_eq!(std::fs::read_to_string(&keys).unwrap(), "ada adaskey");
    }
}

#[tokio::test]
async fn a_file_that_cannot_be_written_completely_keeps_no_space() {
    let folder = tempfile::tempdir().unwrap();
    let files = files(folder.path());
    std::fs::write(folder.path().join("old.har"), "old").unwrap();
    let full = |to: &mut dyn io::Write| {
        to.write_all(b"a part")?;
        to.flush()?;
        Err(io::ErrorKind::StorageFull.into())
    };
    let new = files.automatic("page", "har").await.unwrap();
    let old = files.writable("old.har").unwrap();
    for file in [&new, &old] {
        let written = files.write_parts(file, full).await;
        assert!(written.is_err(), "{file:?}");
    }
    assert!(!new.path.exists());
    assert_eq!(std::fs::read(&old.path).unwrap(), b"");
}
