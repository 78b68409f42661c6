//! AGENTS.md: what the person and the project wrote for agents.
//!
//! Owns which files are read, in which order, and how much of each. Those of a workspace are read
//! through `workspace`, by its rules, and only where the caller says that it is trusted. It must
//! never interpret what they say.

use crate::workspace::{FileError, OpenOptions, Opened, Workspace};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// The name that is looked for in each directory, and the one that counts where it is missing.
const NAMES: [&str; 2] = ["AGENTS.md", "CLAUDE.md"];

/// The most bytes of one file. Far more than anybody reads.
const MOST_FILE: usize = 32 << 10;
/// The most bytes of all files of a workspace. What lies nearest to the work is kept first; the
/// user's own is not counted, so that no repository can crowd it out.
const MOST_ALL: usize = 96 << 10;

/// What is told to the model of them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Instructions {
    /// The files, the most general first.
    pub files: Vec<InstructionFile>,
    /// What was left out or cut, and why, one line each.
    pub notices: Vec<String>,
}

/// One file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstructionFile {
    /// Its path as people know it: relative to the workspace, or where the user keeps it.
    pub name: String,
    /// What it says, cut to what is allowed.
    pub text: String,
}

impl Instructions {
    /// Reads them: the user's own below `config`, then those of `workspace` from its root down to
    /// `place`, which is relative to it and where the work happens. Blocks on files.
    pub fn read(
        config: Option<&Path>,
        workspace: Option<&Workspace>,
        place: &Path,
    ) -> Instructions {
        let mut instructions = Instructions::default();
        if let Some(config) = config {
            let path = config.join(NAMES[0]);
            let name = path.display().to_string();
            let own = instructions.take(name, of_the_user(&path));
            instructions.keep(own.into_iter().collect());
        }
        if let Some(workspace) = workspace {
            let mut found = Vec::new();
            for directory in ways_down(place) {
                found.extend(instructions.of_directory(workspace, &directory));
            }
            instructions.keep(found);
        }
        instructions
    }

    /// The file of one directory of the workspace.
    fn of_directory(&mut self, workspace: &Workspace, directory: &Path) -> Option<InstructionFile> {
        for name in NAMES {
            let path = directory.join(name).display().to_string();
            let read = of_the_workspace(workspace, &path);
            if let Ok(None) = read {
                continue;
            }
            return self.take(path, read);
        }
        None
    }

    fn take(
        &mut self,
        name: String,
        read: Result<Option<Vec<u8>>, String>,
    ) -> Option<InstructionFile> {
        let bytes = match read {
            Ok(bytes) => bytes?,
            Err(why) => {
                self.notices.push(format!("{name} is left out: {why}"));
                return None;
            }
        };
        let Ok(text) = String::from_utf8(bytes) else {
            let notice = format!("{name} is left out: it is not UTF-8 text");
            self.notices.push(notice);
            return None;
        };
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned();
        (!text.trim().is_empty()).then_some(InstructionFile { name, text })
    }

    /// Cuts what is too much, beginning with what is farthest from the work.
    fn keep(&mut self, found: Vec<InstructionFile>) {
        let mut room = MOST_ALL;
        let mut kept = Vec::new();
        for mut file in found.into_iter().rev() {
            let whole = file.text.len();
            let most = MOST_FILE.min(room);
            if whole > most {
                file.text.truncate(file.text.floor_char_boundary(most));
                room -= file.text.len();
                self.notices.push(format!(
                    "{} is cut: the first {} of its {whole} bytes are told to the model, which allows {MOST_FILE} a file and {MOST_ALL} in all",
                    file.name,
                    file.text.len(),
                ));
                if file.text.is_empty() {
                    continue;
                }
                file.text.push_str("\n[cut here]");
            } else {
                room -= whole;
            }
            kept.push(file);
        }
        self.files.extend(kept.into_iter().rev());
    }
}

/// The root, and each directory on the way to `place`.
fn ways_down(place: &Path) -> Vec<PathBuf> {
    let mut ways: Vec<PathBuf> = place.ancestors().map(Path::to_owned).collect();
    ways.reverse();
    ways
}

/// As many bytes as show whether there are too many.
const LOOK: usize = MOST_ALL + 1;

fn of_the_user(path: &Path) -> Result<Option<Vec<u8>>, String> {
    let told = |error: io::Error| error.to_string();
    let metadata = match path.metadata() {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(told(error)),
    };
    if !metadata.is_file() {
        return Err("it is not a regular file".to_owned());
    }
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).map_err(told)?;
    file.take(LOOK as u64)
        .read_to_end(&mut bytes)
        .map_err(told)?;
    Ok(Some(whole_characters(bytes)))
}

fn of_the_workspace(workspace: &Workspace, path: &str) -> Result<Option<Vec<u8>>, String> {
    let options = OpenOptions {
        read: true,
        follow: true,
        ..OpenOptions::default()
    };
    let file = match workspace.directory().open(path, options) {
        Ok(Opened::File(file)) => file,
        Ok(Opened::Directory(_)) => return Err("it is a directory".to_owned()),
        Err(FileError::System(rustix::io::Errno::NOENT)) => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    let mut bytes = Vec::new();
    while bytes.len() < LOOK {
        let piece = file
            .read_at(LOOK - bytes.len(), bytes.len() as u64)
            .map_err(|error| error.to_string())?;
        if piece.is_empty() {
            break;
        }
        bytes.extend(piece);
    }
    Ok(Some(whole_characters(bytes)))
}

/// A read that ended in the middle of a character is no reason to call the file no text.
fn whole_characters(mut bytes: Vec<u8>) -> Vec<u8> {
    if bytes.len() == LOOK
        && let Err(error) = std::str::from_utf8(&bytes)
        && error.error_len().is_none()
    {
        bytes.truncate(error.valid_up_to());
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::PathRules;
    use crate::workspace::Access;
    use std::fs;

    struct Bench {
        root: tempfile::TempDir,
    }

    impl Bench {
        fn new(files: &[(&str, &[u8])]) -> Self {
            let root = tempfile::tempdir().expect("a temporary directory");
            for place in ["config", "work/web/app/deep"] {
                fs::create_dir_all(root.path().join(place)).expect("directories");
            }
            for (path, bytes) in files {
                fs::write(root.path().join(path), bytes).expect("a file");
            }
            Bench { root }
        }

        fn read(&self, place: &str) -> Instructions {
            let rules = PathRules::default();
            let workspace =
                Workspace::open(&self.root.path().join("work"), Access::ReadOnly, rules)
                    .expect("a workspace");
            let config = self.root.path().join("config");
            Instructions::read(Some(&config), Some(&workspace), Path::new(place))
        }

        /// The texts, and where each is from without the directory of this test.
        fn told(&self, place: &str) -> Vec<(String, String)> {
            let root = format!("{}/", self.root.path().display());
            let files = self.read(place).files;
            files
                .into_iter()
                .map(|file| (file.name.replace(&root, ""), file.text))
                .collect()
        }
    }

    fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
        expected
            .iter()
            .map(|(name, text)| ((*name).to_owned(), (*text).to_owned()))
            .collect()
    }

    #[test]
    fn the_nearest_comes_last_and_claude_md_counts_where_there_is_no_agents_md() {
        let bench = Bench::new(&[
            ("config/AGENTS.md", b"\xef\xbb\xbfmine"),
            ("work/AGENTS.md", b"root"),
            ("work/CLAUDE.md", b"not read"),
            ("work/web/CLAUDE.md", b"web"),
            ("work/web/app/AGENTS.md", b"app"),
        ]);
        let mine = ("config/AGENTS.md", "mine");
        let root = ("AGENTS.md", "root");
        let web = ("web/CLAUDE.md", "web");
        assert_eq!(bench.told(""), pairs(&[mine, root]));
        assert_eq!(bench.told("web"), pairs(&[mine, root, web]));
        let app = ("web/app/AGENTS.md", "app");
        assert_eq!(bench.told("web/app"), pairs(&[mine, root, web, app]));
    }

    #[test]
    fn without_a_trusted_workspace_only_the_users_own_is_read() {
        let bench = Bench::new(&[("config/AGENTS.md", b"mine"), ("work/AGENTS.md", b"root")]);
        let config = bench.root.path().join("config");
        let read = Instructions::read(Some(&config), None, Path::new("web"));
        assert_eq!(read.files.len(), 1);
        assert_eq!(
            Instructions::read(None, None, Path::new("")),
            Instructions::default()
        );
    }

    #[test]
    fn what_is_too_much_is_cut_from_the_far_end_and_told() {
        let most = vec![b'x'; MOST_FILE];
        let bench = Bench::new(&[
            ("config/AGENTS.md", &most),
            ("work/AGENTS.md", &most),
            ("work/web/AGENTS.md", "é".repeat(MOST_FILE).as_bytes()),
            ("work/web/app/AGENTS.md", &most),
            ("work/web/app/deep/AGENTS.md", &most[1..]),
        ]);
        let read = bench.read("web/app/deep");
        let lengths: Vec<usize> = read.files.iter().map(|file| file.text.len()).collect();
        let cut = "\n[cut here]".len();
        // The user's own, what room is left for the root, and the three nearest.
        let expected = [
            MOST_FILE,
            1 + cut,
            MOST_FILE + cut,
            MOST_FILE,
            MOST_FILE - 1,
        ];
        assert_eq!(lengths, expected);
        let [web, root] = &read.notices[..] else {
            panic!("{:?}", read.notices);
        };
        assert!(web.starts_with("web/AGENTS.md is cut"), "{web}");
        assert!(
            root.starts_with("AGENTS.md is cut: the first 1 of"),
            "{root}"
        );
    }

    #[test]
    fn what_cannot_be_read_is_a_notice_and_the_rest_is_told() {
        let bench = Bench::new(&[
            ("work/AGENTS.md", b"caf\xe9"),
            ("work/web/AGENTS.md", b" \n"),
            ("work/web/app/AGENTS.md", b"app"),
        ]);
        fs::create_dir(bench.root.path().join("config/AGENTS.md")).expect("a directory");
        let read = bench.read("web/app");
        assert_eq!(read.files.len(), 1);
        let all = read.notices.join("\n");
        assert!(
            all.contains("AGENTS.md is left out: it is not UTF-8 text"),
            "{all}"
        );
        assert!(all.contains("it is not a regular file"), "{all}");
    }

    #[cfg(unix)]
    #[test]
    fn a_link_out_of_the_workspace_is_not_followed() {
        use std::os::unix::fs::symlink;
        let bench = Bench::new(&[("config/secret", b"secret"), ("work/REAL.md", b"real")]);
        let work = bench.root.path().join("work");
        symlink("../config/secret", work.join("AGENTS.md")).expect("a link");
        symlink("../REAL.md", work.join("web/AGENTS.md")).expect("a link");
        let read = bench.read("web");
        assert_eq!(read.files.len(), 1, "{read:?}");
        assert_eq!(read.files[0].text, "real");
        assert_eq!(read.notices.len(), 1, "{read:?}");
        assert!(!format!("{read:?}").contains("\"secret\""), "{read:?}");
    }
}
