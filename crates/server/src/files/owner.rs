//! The folders of principals.

use super::names::normal;
use super::output_folder::{self, is_writable};
use crate::access::principal::Principal;
use crate::config::{OwnerFolders, Settings};
use sha2::{Digest as _, Sha256};
use std::path::PathBuf;

/// Returns the settings of the sessions of a principal: with folders of its own if clients are authenticated.
pub(crate) fn settings_of(settings: &Settings, owner: &Principal) -> Settings {
    let mut settings = settings.apart();
    if owner.is_anonymous() {
        return settings;
    }
    let folders = owner.folders();
    let several = settings.has_named_principals();
    let name = folder_name(&owner.to_string());
    let files = &mut settings.files;
    let root = match &files.workspace_root {
        Some(root) => root.clone(),
        None => output_folder::workspaces(files),
    };
    let is_alone = !several && files.workspace_root.is_none();
    let workspace = match &folders.workspace {
        Some(workspace) => workspace.clone(),
        None if is_alone && is_writable(&files.cwd) => files.cwd.clone(),
        None => root.join(&name),
    };
    let mut others = Vec::new();
    if several {
        others.extend(folders.others.iter().cloned());
        others.push(root);
        let shared = [
            &files.output_dir,
            &files.traces_dir,
            &settings.context.downloads_dir,
        ];
        others.extend(shared.into_iter().flatten().cloned());
        for folder in [&mut files.traces_dir, &mut settings.context.downloads_dir] {
            *folder = folder.take().map(|folder| folder.join(&name));
        }
    }
    files.readable.extend(folders.readable.iter().cloned());
    files.owner = Some(OwnerFolders {
        workspace: normal(&workspace),
        name: several.then_some(name),
        others,
    });
    settings
}

/// Returns the name of a principal's folder: readable, and unique also in case-insensitive file systems.
fn folder_name(principal: &str) -> String {
    let readable = principal.chars().map(|char| match char {
        char if char.is_ascii_alphanumeric() => char.to_ascii_lowercase(),
        _ => '-',
    });
    let readable: String = readable.take(40).collect();
    let digest = Sha256::digest(principal);
    let digest: String = digest.iter().take(8).map(|b| format!("{b:02x}")).collect();
    format!("{readable}-{digest}")
}

/// Returns the workspace of a client with these roots: the owner's workspace or a folder below it.
pub(super) fn workspace_of(owner: &OwnerFolders, roots: Vec<PathBuf>) -> super::Workspace {
    let own = &owner.workspace;
    let within = |root: &&PathBuf| root.is_dir() && super::beneath::lies_in(root, own);
    let folder = roots.iter().find(within).unwrap_or(own).clone();
    if let Some(root) = roots.first().filter(|root| !within(root)) {
        let (root, own) = (root.display(), own.display());
        tracing::info!(%root, workspace = %own, "a root of the client is not in the workspace of its principal");
    }
    let project = match roots.into_iter().next() {
        None => folder.clone(),
        // Without authentication there is only one principal.
        Some(root) if owner.name.is_none() => root,
        // Two principals may have roots of the same name on different machines, which need different profiles.
        Some(root) => own.join(root.strip_prefix("/").unwrap_or(&root)),
    };
    super::Workspace { folder, project }
}

#[cfg(test)]
mod tests {
    use super::super::Workspace;
    use super::*;
    use crate::access::principal::Folders;
    use std::path::Path;

    /// Returns the folders of a principal of a server with these flags.
    fn of(flags: &[&str], owner: &Principal) -> Settings {
        settings_of(&Settings::of_flags(flags), owner)
    }

    #[test]
    fn without_authentication_clients_use_the_folders_of_the_server() {
        for flags in [&["--headless"][..], &["--port=0", "--auth=none"]] {
            assert_eq!(of(flags, &Principal::anonymous()).files.owner, None);
        }
    }

    #[test]
    fn a_single_key_works_where_the_server_was_started() {
        let cwd = std::env::temp_dir();
        let mut settings = Settings::of_flags(&["--port=0", "--api-key=k"]);
        settings.files.cwd = cwd.clone();
        let owner = settings_of(&settings, &Principal::named("key")).files.owner;
        let owner = owner.expect("folders of its own");
        assert_eq!((owner.workspace, owner.name), (cwd, None));
        // The root of the file system is not used as a workspace.
        settings.files.cwd = PathBuf::from("/");
        let owner = settings_of(&settings, &Principal::named("key")).files.owner;
        assert!(
            owner
                .expect("folders of its own")
                .workspace
                .components()
                .count()
                > 2
        );
    }

    #[test]
    fn several_principals_have_folders_apart() {
        let flags = [
            "--port=0",
            "--oauth-issuer=https://id.example",
            "--workspace-root=/srv",
            "--output-dir=/out",
        ];
        let (ada, bob) = (
            Principal::named("oauth:i#Ada"),
            Principal::named("oauth:i#ada"),
        );
        let folders = |owner: &Principal| of(&flags, owner).files.owner.expect("its own");
        let (ada, bob) = (folders(&ada), folders(&bob));
        assert_ne!(ada.workspace, bob.workspace);
        assert!(ada.workspace.starts_with("/srv/"), "{ada:?}");
        assert_eq!(ada.others, [PathBuf::from("/srv"), PathBuf::from("/out")]);
        let name = ada.name.expect("a name");
        assert!(name.starts_with("oauth-i-ada-"), "{name}");
        let given = Folders {
            workspace: Some("/home/ada".into()),
            readable: vec!["fixtures".into()],
            others: vec!["/home/bob".into()],
        };
        let given = Principal::named("oauth:i#Ada").with_folders(given);
        let files = of(&flags, &given).files;
        assert_eq!(files.readable, [PathBuf::from("fixtures")]);
        let owner = files.owner.expect("its own");
        assert_eq!(owner.workspace, Path::new("/home/ada"));
        assert_eq!(owner.others[0], Path::new("/home/bob"));
    }

    #[test]
    fn a_name_that_leads_elsewhere_is_a_name() {
        for name in ["key:../../etc", "oauth:https://x/#a/b", "", "..", "ключ"] {
            let folder = folder_name(name);
            let plain = |char: char| char.is_ascii_alphanumeric() || char == '-';
            assert!(folder.chars().all(plain) && folder.len() > 16, "{folder}");
        }
    }

    #[test]
    fn roots_of_a_client_count_below_the_workspace_of_its_principal() {
        let folder = tempfile::tempdir().unwrap();
        let (own, project) = (folder.path().join("ada"), folder.path().join("ada/project"));
        std::fs::create_dir_all(&project).unwrap();
        std::fs::create_dir(folder.path().join("bob")).unwrap();
        let owner = |name: Option<&str>| OwnerFolders {
            workspace: own.clone(),
            name: name.map(str::to_owned),
            others: Vec::new(),
        };
        let of = |name, root: &Path| workspace_of(&owner(name), vec![root.to_owned()]);
        let both = |folder: &Path, project: PathBuf| Workspace {
            folder: folder.to_owned(),
            project,
        };
        assert_eq!(of(Some("a"), &project).folder, project);
        let elsewhere = folder.path().join("bob");
        let expected = own.join(elsewhere.strip_prefix("/").unwrap());
        assert_eq!(of(Some("a"), &elsewhere), both(&own, expected));
        assert_eq!(of(None, &elsewhere), both(&own, elsewhere.clone()));
        let none = workspace_of(&owner(Some("a")), Vec::new());
        assert_eq!(none, both(&own, own.clone()));
    }
}
