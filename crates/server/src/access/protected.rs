//! Protected files, which no tool reads or writes under any spelling of the path: keys, configuration, secrets, logins and state of the
//! server, repository data, and the folders of other principals.

use std::collections::HashSet;
use std::fs::Metadata;
use std::path::{Component, Path, PathBuf};

/// The data of a Git repository: its configuration and hooks are programs.
const REPOSITORY: &str = ".git";

/// The prefix of the names of temporary browser profiles.
const TEMPORARY_PROFILE: &str = "playhouse-profile-";

/// The largest number of files in a folder that may be uploaded to a page.
const MAX_ENTRIES: usize = 10_000;

/// The protected paths, and the folders of the caller.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Protected {
    /// Files, and folders with their contents.
    paths: Vec<PathBuf>,
    /// The caller's own folders: a protected folder around one does not protect its contents.
    own: Vec<PathBuf>,
    /// Whether files with several names are protected: one of the names may be in a folder of another principal.
    several_names: bool,
}

/// Device and inode, which identify a file under all of its names.
type FileId = (u64, u64);

/// The protected paths with resolved links.
pub(crate) struct Guard<'a> {
    list: &'a Protected,
    /// The resolved paths of the list and of the caller's folders.
    paths: Vec<PathBuf>,
    own: Vec<PathBuf>,
    ids: HashSet<FileId>,
}

impl Protected {
    /// Creates a list of protected files and folders with their contents, and of the caller's own folders.
    pub(crate) fn new(paths: Vec<PathBuf>, own: Vec<PathBuf>) -> Self {
        Self {
            paths,
            own,
            several_names: false,
        }
    }

    /// Protects files with several names (hard links), if there are other principals.
    pub(crate) fn beside_others(self, several_names: bool) -> Self {
        Self {
            several_names,
            ..self
        }
    }

    /// Resolves the links of the list and identifies existing files by device and inode.
    pub(crate) fn guard(&self) -> Guard<'_> {
        let repositories = self.own.iter().map(|own| own.join(REPOSITORY));
        let paths: Vec<_> = self
            .paths
            .iter()
            .cloned()
            .chain(repositories)
            .filter_map(|path| real(&path))
            .collect();
        Guard {
            list: self,
            ids: paths.iter().filter_map(|path| id_of(path)).collect(),
            own: self.own.iter().filter_map(|own| real(own)).collect(),
            paths,
        }
    }
}

impl Guard<'_> {
    /// Returns whether the file that the path resolves to is protected.
    pub(crate) fn covers_path(&self, path: &Path) -> bool {
        real(path).is_none_or(|real| self.covers(path, &real))
    }

    /// Returns whether the path or a folder above it is protected. `real` is the path with its links resolved.
    pub(crate) fn covers(&self, path: &Path, real: &Path) -> bool {
        // A link of that name may point to data of another name.
        let mut own = self.list.own.iter();
        let below = own.find_map(|own| path.strip_prefix(own).ok());
        let mut names = below.unwrap_or(path).components();
        names.any(|name| is_repository(&name.as_os_str().to_string_lossy()))
            || self.covers_real(real)
    }

    fn covers_real(&self, real: &Path) -> bool {
        let is_linked = || real.metadata().is_ok_and(|file| self.is_linked(&file));
        is_linked()
            || real
                .ancestors()
                // Protected folders around a folder of the caller do not protect its contents.
                .take_while(|above| !self.own.iter().any(|own| own == above))
                .any(|above| {
                    let name = above.file_name().unwrap_or_default().to_string_lossy();
                    is_repository(&name)
                        || name.starts_with(TEMPORARY_PROFILE)
                        || self.paths.iter().any(|path| path == above)
                        || id_of(above).is_some_and(|id| self.ids.contains(&id))
                })
    }

    /// Returns whether an open file is a protected one under another name.
    pub(crate) fn is_listed(&self, file: &Metadata) -> bool {
        self.is_linked(file) || id(file).is_some_and(|id| self.ids.contains(&id))
    }

    /// Returns whether a file may be one of another principal under a second name.
    fn is_linked(&self, file: &Metadata) -> bool {
        self.list.several_names && file.is_file() && names(file) > 1
    }

    /// Returns whether the folder contains a protected file, a link that points outside it, or too many entries to check.
    pub(crate) fn covers_part_of(&self, folder: &Path) -> bool {
        let Some(root) = real(folder) else {
            return true;
        };
        let mut folders = vec![root.clone()];
        let mut left = MAX_ENTRIES;
        while let Some(folder) = folders.pop() {
            let Ok(entries) = folder.read_dir() else {
                return true;
            };
            for entry in entries.flatten() {
                let path = entry.path();
                let target = real(&path).filter(|target| target.starts_with(&root));
                let is_covered = target.is_none_or(|target| self.covers(&path, &target));
                if left == 0 || is_covered {
                    return true;
                }
                left -= 1;
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    folders.push(path);
                }
            }
        }
        false
    }
}

/// Returns the path with its links resolved, also links to files that do not exist yet; `None` for a cycle of links.
pub(crate) fn real(path: &Path) -> Option<PathBuf> {
    let mut real = PathBuf::new();
    let mut links_left = MAX_LINKS;
    follow(&mut real, path, &mut links_left).then_some(real)
}

/// The limit of Linux.
const MAX_LINKS: usize = 40;

/// Appends a path to a resolved folder and resolves its links; returns `false` if that takes more links than `links_left`.
fn follow(real: &mut PathBuf, path: &Path, links_left: &mut usize) -> bool {
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                real.pop();
            }
            Component::Normal(name) => {
                let next = real.join(name);
                let Ok(target) = next.read_link() else {
                    *real = next;
                    continue;
                };
                if *links_left == 0 {
                    return false;
                }
                *links_left -= 1;
                if !follow(real, &target, links_left) {
                    return false;
                }
            }
            root => real.push(root),
        }
    }
    true
}

/// Case-insensitive file systems also accept it in capitals.
fn is_repository(name: &str) -> bool {
    name.eq_ignore_ascii_case(REPOSITORY)
}

fn id_of(path: &Path) -> Option<FileId> {
    id(&path.metadata().ok()?)
}

#[cfg(unix)]
fn id(file: &Metadata) -> Option<FileId> {
    use std::os::unix::fs::MetadataExt as _;
    Some((file.dev(), file.ino()))
}

#[cfg(not(unix))]
fn id(_: &Metadata) -> Option<FileId> {
    None
}

/// Returns the number of names of a file.
#[cfg(unix)]
fn names(file: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::nlink(file)
}

#[cfg(not(unix))]
fn names(_: &Metadata) -> u64 {
    1
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_file_with_a_second_name_may_be_one_of_another_principal() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("theirs.txt"), "theirs").unwrap();
        fs::write(at("own.txt"), "own").unwrap();
        fs::hard_link(at("theirs.txt"), at("linked.txt")).unwrap();
        let protected = |is_beside| {
            let own = vec![folder.path().to_owned()];
            Protected::new(Vec::new(), own).beside_others(is_beside)
        };
        for (is_beside, name, is_covered) in [
            (true, "linked.txt", true),
            (true, "own.txt", false),
            (true, "new.txt", false),
            (false, "linked.txt", false),
        ] {
            let protected = protected(is_beside);
            let guard = protected.guard();
            assert_eq!(guard.covers_path(&at(name)), is_covered, "{name}");
            let file = at(name).metadata();
            assert_eq!(
                file.is_ok_and(|file| guard.is_listed(&file)),
                is_covered,
                "{name}"
            );
        }
        assert!(protected(true).guard().covers_part_of(folder.path()));
    }

    /// A workspace with a keys file, a profile, a repository and an ordinary file; the list protects the first two.
    fn workspace() -> (tempfile::TempDir, Protected) {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for made in [".git/hooks", "profile/Default", "sub/.git", "data"] {
            fs::create_dir_all(at(made)).unwrap();
        }
        for file in ["keys.txt", "a.txt", "data/a.txt", "profile/Default/Cookies"] {
            fs::write(at(file), "x").unwrap();
        }
        let protected = Protected::new(
            vec![at("keys.txt"), at("profile"), at("later.json")],
            vec![folder.path().to_owned()],
        );
        (folder, protected)
    }

    fn covers(protected: &Protected, path: &Path) -> bool {
        protected.guard().covers(path, &real(path).unwrap())
    }

    #[test]
    fn what_is_listed_is_covered_under_every_name() {
        let (folder, protected) = workspace();
        let at = |name: &str| folder.path().join(name);
        symlink("keys.txt", at("link")).unwrap();
        symlink("link", at("twice")).unwrap();
        symlink("profile", at("folder")).unwrap();
        symlink(".git", at("repository")).unwrap();
        fs::hard_link(at("keys.txt"), at("hard")).unwrap();
        for name in [
            "keys.txt",
            "link",
            "twice",
            "hard",
            "later.json",
            "profile",
            "profile/Default/Cookies",
            "profile/not/there/yet",
            "folder/Default/Cookies",
            ".git",
            ".git/hooks/pre-commit",
            ".GIT/config",
            "sub/.git/config",
            "repository/hooks/pre-commit",
            "playhouse-profile-abc/Cookies",
        ] {
            assert!(covers(&protected, &at(name)), "{name}");
        }
        for name in [
            "a.txt",
            "data/a.txt",
            "new.txt",
            ".gitignore",
            "x.git",
            "keys.txt2",
        ] {
            assert!(!covers(&protected, &at(name)), "{name}");
        }
        let hard = fs::File::open(at("hard")).unwrap().metadata().unwrap();
        assert!(protected.guard().is_listed(&hard));
        let other = at("a.txt").metadata().unwrap();
        assert!(!protected.guard().is_listed(&other));
    }

    #[test]
    fn a_repository_of_another_name_is_covered_too() {
        let (folder, protected) = workspace();
        let at = |name: &str| folder.path().join(name);
        fs::remove_dir_all(at(".git")).unwrap();
        fs::create_dir_all(at("elsewhere/hooks")).unwrap();
        symlink("elsewhere", at(".git")).unwrap();
        for name in [".git/hooks/x", "elsewhere/hooks/x"] {
            assert!(covers(&protected, &at(name)), "{name}");
        }
    }

    #[test]
    fn an_own_folder_inside_of_what_is_protected_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for made in ["all/ada", "all/bob", "all/.git/ada"] {
            fs::create_dir_all(at(made)).unwrap();
        }
        let protected = Protected::new(vec![at("all")], vec![at("all/ada")]);
        assert!(!covers(&protected, &at("all/ada/x.txt")));
        assert!(!covers(&protected, &at("elsewhere/x.txt")));
        assert!(covers(&protected, &at("all/bob/x.txt")));
        assert!(covers(&protected, &at("all/ada/.git/x")));
        let within = Protected::new(Vec::new(), vec![at("all/.git/ada")]);
        assert!(!covers(&within, &at("all/.git/ada/x.txt")));
    }

    #[test]
    fn a_folder_is_given_to_a_page_only_if_all_of_it_may_be_read() {
        let (folder, protected) = workspace();
        let at = |name: &str| folder.path().join(name);
        let covers = |name: &str| protected.guard().covers_part_of(&at(name));
        assert!(!covers("data"));
        assert!(covers("") && covers("sub") && covers("not-there"));
        symlink("a.txt", at("data/within")).unwrap();
        assert!(!covers("data"));
        symlink("../a.txt", at("data/out")).unwrap();
        assert!(covers("data"));
        fs::remove_file(at("data/out")).unwrap();
        fs::hard_link(at("keys.txt"), at("data/hard")).unwrap();
        assert!(covers("data"));
    }
}
