//! Which paths of a workspace a tool does not see, and which it does not change.
//!
//! Owns [`PathRules`]: the table of defaults, the globs that settings add, and the one way to ask
//! about a path. It exists here because the rules are part of a grant; whoever opens files asks
//! about the path it really reached. It must never open a file, and never let an added glob take a
//! default away.

use globset::{Candidate, GlobBuilder, GlobSet, GlobSetBuilder};
use std::borrow::Cow;
use std::ffi::OsStr;
use std::fmt;
use std::path::{Component, Path};
use std::sync::Arc;

/// What a tool may do with a path. The order is by strictness.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PathClass {
    /// What the grant allows.
    Open,
    /// Read only: the path cannot be changed, removed, replaced or made.
    Protected,
    /// The path does not exist for a tool, in listings neither, and cannot be made.
    Masked,
}

use PathClass::{Masked, Open, Protected};

/// The defaults. A glob holds at any depth and for everything below what it matches; of the rows
/// that match one path the last decides, so `Open` rows take back what is above them.
///
/// Protected is what runs although nobody asked for it: when a shell starts, an editor opens the
/// directory, or git does anything. Masked is what holds secrets by its usual name.
const DEFAULTS: &[(PathClass, &str)] = &[
    // What git runs, and the files that tell it where to find what it runs.
    (Protected, ".git/hooks"),
    (Protected, ".git/config"),
    (Protected, ".git/config.worktree"),
    (Protected, ".git/commondir"),
    (Protected, ".git/info/attributes"),
    (Protected, ".git/modules/**/hooks"),
    (Protected, ".git/modules/**/config"),
    (Protected, ".git/worktrees/**/commondir"),
    (Protected, ".git/worktrees/**/gitdir"),
    (Protected, ".git/worktrees/**/config.worktree"),
    (Protected, ".gitconfig"),
    (Protected, ".config/git"),
    // hotcell's own.
    (Protected, ".hotcell"),
    (Protected, "hotcell.toml"),
    // What a shell runs when it starts or ends.
    (Protected, ".profile"),
    (Protected, ".bashrc"),
    (Protected, ".bash_{profile,login,logout,aliases}"),
    (Protected, ".zsh{rc,env}"),
    (Protected, ".z{profile,login,logout}"),
    (Protected, ".{ksh,mksh,csh,tcsh}rc"),
    (Protected, ".login"),
    (Protected, ".config/fish"),
    // What an editor or an agent runs when it opens the directory.
    (Protected, ".vscode/{tasks,settings,launch}.json"),
    (Protected, ".idea/workspace.xml"),
    (Protected, ".idea/runconfigurations"),
    (Protected, ".devcontainer"),
    (Protected, ".exrc"),
    (Protected, ".{n,}vim{rc,.lua}"),
    (Protected, ".mcp.json"),
    // Environments. `.envrc` is among them; examples are made to be read.
    (Masked, ".env*"),
    (Open, ".env.{example,sample,template,dist,defaults}"),
    (Open, ".env*.{example,sample,template,dist}"),
    // Private keys by the names that ssh-keygen gives, and not every name that begins with `id_`.
    (Masked, "id_{rsa,dsa,ecdsa,ed25519,xmss}*"),
    (Open, "id_{rsa,dsa,ecdsa,ed25519,xmss}*.pub"),
    (Masked, "*.{pem,key,ppk,p12,pfx,jks,keystore,kdbx}"),
    (Masked, ".ssh"),
    (Masked, ".gnupg"),
    // Clouds and clusters.
    (Masked, ".aws"),
    (Masked, ".azure"),
    (Masked, ".config/gcloud"),
    (Masked, ".kube"),
    (Masked, ".boto"),
    (Masked, ".s3cfg"),
    (Masked, ".vault-token"),
    (Masked, ".docker/config.json"),
    (Masked, ".dockercfg"),
    // Logins of single programs.
    (Masked, "{.,_}netrc"),
    (Masked, ".npmrc"),
    (Masked, ".pypirc"),
    (Masked, ".pgpass"),
    (Masked, ".my.cnf"),
    (Masked, ".mylogin.cnf"),
    (Masked, ".git-credentials"),
    (Masked, ".config/git/credentials"),
    (Masked, ".config/gh/hosts.yml"),
    (Masked, ".cargo/credentials{,.toml}"),
    (Masked, ".gem/credentials"),
    (Masked, ".m2/settings{,-security}.xml"),
    (Masked, ".htpasswd"),
    (Masked, ".password-store"),
];

/// A glob that cannot be added.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PathRuleError {
    /// It is no glob.
    #[error("`{glob}` is no glob: {problem}")]
    Syntax {
        /// As it was written.
        glob: String,
        /// What is wrong.
        problem: String,
    },
    /// It would match everything, or nothing.
    #[error(
        "`{glob}` names no path; write a name such as `*.secret` or a path such as `conf/keys`"
    )]
    Names {
        /// As it was written.
        glob: String,
    },
    /// It holds `.` or `..`.
    #[error("`{glob}` holds `.` or `..`; a glob is matched against paths without them")]
    Dots {
        /// As it was written.
        glob: String,
    },
    /// It begins with `!`.
    #[error("`{glob}` begins with `!`, but globs only add: nothing opens again what is closed")]
    Negated {
        /// As it was written.
        glob: String,
    },
    /// A slash within braces or brackets.
    #[error("`{glob}` has a slash within braces or brackets; write one glob for each path")]
    Slash {
        /// As it was written.
        glob: String,
    },
}

/// What is masked and protected in a workspace: the defaults and what was added. Cheap to clone.
///
/// Matching ignores case always, also where the file system does not: a repository that is written
/// on one file system is read on another. For the same reason characters count as absent that some
/// file systems ignore.
#[derive(Clone)]
pub struct PathRules {
    compiled: Arc<Compiled>,
}

/// The glob that decides about a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PathRule<'a> {
    /// What it says.
    pub class: PathClass,
    /// The glob, as it was written.
    pub glob: &'a str,
}

#[derive(PartialEq, Eq)]
struct Row {
    class: PathClass,
    glob: Cow<'static, str>,
    is_default: bool,
}

struct Compiled {
    rows: Vec<Row>,
    /// One a row.
    rules: GlobSet,
    /// What lies above something masked or protected, with the row that says so.
    above: GlobSet,
    above_rows: Vec<usize>,
}

impl PathRules {
    /// The defaults and the globs that are added to them. A glob with no slash at its beginning
    /// holds at any depth; `/conf` is that one directory of the workspace. `*` and `?` do not match
    /// a slash, `**` does.
    ///
    /// # Errors
    /// When a glob cannot be read, or would not mean what its writer believes.
    pub fn new(masked: &[String], protected: &[String]) -> Result<Self, PathRuleError> {
        let defaults = DEFAULTS.iter().map(|(class, glob)| Row {
            class: *class,
            glob: Cow::Borrowed(*glob),
            is_default: true,
        });
        let added = |class| {
            move |glob: &String| Row {
                class,
                glob: Cow::Owned(glob.clone()),
                is_default: false,
            }
        };
        let rows = defaults
            .chain(protected.iter().map(added(Protected)))
            .chain(masked.iter().map(added(Masked)))
            .collect();
        Ok(PathRules {
            compiled: Arc::new(Compiled::new(rows)?),
        })
    }

    /// The class of a path relative to the workspace's root. A path below a masked or protected
    /// directory is of that class. A path that is absolute or holds `..` is masked.
    pub fn class(&self, path: &Path) -> PathClass {
        self.rule(path).map_or(Open, |rule| rule.class)
    }

    /// The glob that makes a path something other than open.
    pub fn rule(&self, path: &Path) -> Option<PathRule<'_>> {
        let mut strictest: Option<PathRule<'_>> = None;
        let mut reached = String::with_capacity(path.as_os_str().len());
        for component in path.components() {
            match component {
                Component::CurDir => continue,
                Component::Normal(name) => push(&mut reached, name),
                Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                    return Some(PathRule {
                        class: Masked,
                        glob: "..",
                    });
                }
            }
            if let Some(rule) = self.compiled.at(&reached)
                && strictest.is_none_or(|found| found.class < rule.class)
            {
                strictest = Some(rule);
            }
        }
        strictest
    }

    /// The glob for something that lies, or would lie, below this path, as `.git/hooks` does below
    /// `.git`. A directory of such a name is not renamed, and nothing becomes it: what is below
    /// would gain or lose its class.
    pub fn rule_below(&self, path: &Path) -> Option<PathRule<'_>> {
        let mut folded = String::with_capacity(path.as_os_str().len());
        for component in path.components() {
            if let Component::Normal(name) = component {
                push(&mut folded, name);
            }
        }
        let found = self.compiled.above.matches(&folded);
        let row = found
            .first()
            .map(|first| &self.compiled.rows[self.compiled.above_rows[*first]]);
        row.map(Row::rule)
    }

    /// For asking about many names of one directory.
    pub fn within(&self, directory: &Path) -> DirectoryRules {
        let mut path = String::new();
        for component in directory.components() {
            if let Component::Normal(name) = component {
                push(&mut path, name);
            }
        }
        DirectoryRules {
            compiled: Arc::clone(&self.compiled),
            own: self.class(directory),
            length: path.len(),
            path,
            matches: Vec::new(),
        }
    }

    /// Every glob with its class, the defaults first.
    pub fn globs(&self) -> impl Iterator<Item = PathRule<'_>> {
        self.compiled.rows.iter().map(Row::rule)
    }
}

/// The rules, asked about names of one directory. Made by [`PathRules::within`].
pub struct DirectoryRules {
    compiled: Arc<Compiled>,
    own: PathClass,
    path: String,
    length: usize,
    matches: Vec<usize>,
}

impl DirectoryRules {
    /// The class of `name` in this directory.
    pub fn class(&mut self, name: &OsStr) -> PathClass {
        self.path.truncate(self.length);
        push(&mut self.path, name);
        self.compiled
            .rules
            .matches_candidate_into(&Candidate::new(&self.path), &mut self.matches);
        let found = self.compiled.strictest(&self.matches);
        found.map_or(self.own, |rule| rule.class.max(self.own))
    }
}

impl Row {
    fn rule(&self) -> PathRule<'_> {
        PathRule {
            class: self.class,
            glob: &self.glob,
        }
    }
}

impl Compiled {
    fn new(rows: Vec<Row>) -> Result<Self, PathRuleError> {
        let mut rules = GlobSetBuilder::new();
        let mut above = GlobSetBuilder::new();
        let mut above_rows = Vec::new();
        for (index, row) in rows.iter().enumerate() {
            let parts = parts(&row.glob)?;
            rules.add(compile(&row.glob, &parts, parts.steps.len())?);
            if row.class == Open {
                continue;
            }
            for length in 1..parts.steps.len() {
                if parts.is_anchored || !parts.steps[..length].iter().all(|step| is_any(step)) {
                    above.add(compile(&row.glob, &parts, length)?);
                    above_rows.push(index);
                }
            }
        }
        let built = |set: &GlobSetBuilder| {
            set.build().map_err(|error| PathRuleError::Syntax {
                glob: error.glob().unwrap_or_default().to_owned(),
                problem: error.kind().to_string(),
            })
        };
        Ok(Compiled {
            rules: built(&rules)?,
            above: built(&above)?,
            above_rows,
            rows,
        })
    }

    /// The rule for this very path, without those above it.
    fn at(&self, folded: &str) -> Option<PathRule<'_>> {
        self.strictest(&self.rules.matches(folded))
    }

    /// Of the defaults the last that matches decides; what was added can only be stricter.
    fn strictest(&self, matches: &[usize]) -> Option<PathRule<'_>> {
        let mut decided: Option<PathRule<'_>> = None;
        for row in matches.iter().map(|index| &self.rows[*index]) {
            if row.is_default || decided.is_none_or(|found| found.class < row.class) {
                decided = Some(row.rule());
            }
        }
        decided.filter(|rule| rule.class != Open)
    }
}

/// A glob, taken apart at its slashes.
struct Parts<'a> {
    steps: Vec<&'a str>,
    is_anchored: bool,
}

fn parts(glob: &str) -> Result<Parts<'_>, PathRuleError> {
    let glob_named = || glob.to_owned();
    if glob.starts_with('!') {
        return Err(PathRuleError::Negated { glob: glob_named() });
    }
    let rest = glob.strip_prefix('/');
    let is_anchored = rest.is_some();
    let rest = rest.unwrap_or(glob);
    let rest = rest.strip_suffix('/').unwrap_or(rest);
    let mut depth = 0_u32;
    let mut escaped = false;
    for character in rest.chars() {
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '{' | '[' => depth += 1,
            '}' | ']' => depth = depth.saturating_sub(1),
            '/' if depth > 0 => return Err(PathRuleError::Slash { glob: glob_named() }),
            _ => {}
        }
    }
    let steps: Vec<&str> = rest.split('/').collect();
    if steps.iter().any(|step| *step == "." || *step == "..") {
        return Err(PathRuleError::Dots { glob: glob_named() });
    }
    if steps.iter().any(|step| step.trim().is_empty()) || steps.iter().all(|step| is_any(step)) {
        return Err(PathRuleError::Names { glob: glob_named() });
    }
    Ok(Parts { steps, is_anchored })
}

/// Whether one step of a glob matches every name.
fn is_any(step: &str) -> bool {
    step.chars().all(|character| character == '*')
}

/// The first `length` steps of a glob, to be matched against a folded path.
fn compile(
    written: &str,
    parts: &Parts<'_>,
    length: usize,
) -> Result<globset::Glob, PathRuleError> {
    let steps = parts.steps[..length].join("/").to_lowercase();
    let text = if parts.is_anchored {
        steps
    } else {
        format!("**/{steps}")
    };
    GlobBuilder::new(&text)
        .literal_separator(true)
        .backslash_escape(true)
        .empty_alternates(true)
        .build()
        .map_err(|error| PathRuleError::Syntax {
            glob: written.to_owned(),
            problem: error.kind().to_string(),
        })
}

/// Adds a name to a path of folded names.
fn push(path: &mut String, name: &OsStr) {
    if !path.is_empty() {
        path.push('/');
    }
    let name = name.to_string_lossy();
    let start = path.len();
    if name.is_ascii() {
        path.push_str(&name);
        path[start..].make_ascii_lowercase();
    } else {
        for character in name.chars().filter(|character| !is_ignorable(*character)) {
            match character {
                // Both fold to an ASCII letter, and lower case alone leaves the first as it is.
                'ſ' => path.push('s'),
                '\u{212a}' => path.push('k'),
                _ => path.extend(character.to_lowercase()),
            }
        }
    }
    // Windows drops dots and blanks at the end, and takes what follows a colon for a stream.
    let folded = &path[start..];
    let plain = folded.split_once(':').map_or(folded, |(plain, _)| plain);
    let plain = plain.trim_end_matches(['.', ' ']);
    if !plain.is_empty() {
        let end = start + plain.len();
        path.truncate(end);
    }
}

/// Characters that HFS+ ignores in names, so that `.g\u{200c}it` is `.git` there.
const fn is_ignorable(character: char) -> bool {
    matches!(
        character,
        '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}'
    )
}

impl Default for PathRules {
    fn default() -> Self {
        Self::new(&[], &[]).expect("a test compiles the default globs")
    }
}

impl PartialEq for PathRules {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.compiled, &other.compiled) || self.compiled.rows == other.compiled.rows
    }
}

impl Eq for PathRules {}

impl fmt::Debug for PathRules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let added = self.compiled.rows.iter().filter(|row| !row.is_default);
        f.debug_map()
            .entries(added.map(|row| (&row.glob, row.class)))
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn globs(of: &[&str]) -> Vec<String> {
        of.iter().map(|glob| (*glob).to_owned()).collect()
    }

    #[test]
    fn the_defaults_class_these_paths() {
        let rules = PathRules::default();
        for (class, paths) in [
            (
                Masked,
                &[
                    ".env",
                    ".env.production",
                    ".envrc",
                    "service/.ENV.local",
                    "certs/server.pem",
                    "server.KEY",
                    "id_rsa",
                    "keys/id_ed25519.bak",
                    ".ssh",
                    ".ssh/config",
                    ".ssh/id_rsa.pub",
                    "home/.aws/credentials",
                    ".netrc",
                    "_netrc",
                    ".npmrc",
                    "a/b/.pgpass",
                    ".config/git/credentials",
                    ".cargo/credentials",
                    ".cargo/credentials.toml",
                    ".ſſh/config",
                    ".e\u{200c}nv",
                    ".env ",
                    ".env.",
                    ".env::$DATA",
                    "../x",
                    "/etc/passwd",
                ][..],
            ),
            (
                Protected,
                &[
                    ".git/hooks",
                    ".git/hooks/pre-commit",
                    ".GIT/Hooks/pre-commit",
                    "vendor/sub/.git/hooks/pre-commit",
                    ".git/config",
                    ".git/modules/a/b/hooks/post-checkout",
                    ".git/modules/a/config",
                    ".git/modules/config",
                    ".hotcell",
                    ".hotcell/anything/below",
                    "hotcell.toml",
                    ".bashrc",
                    "home/.zshenv",
                    ".zprofile",
                    ".config/fish/config.fish",
                    ".vscode/tasks.json",
                    ".idea/runConfigurations/x.xml",
                    ".nvim.lua",
                    ".vimrc",
                    ".\u{200d}git/hooks",
                ][..],
            ),
            (
                Open,
                &[
                    "",
                    ".",
                    "src/main.rs",
                    ".env.example",
                    "deploy/.env.production.sample",
                    "environment",
                    "id_rsa.pub",
                    "id_map.rs",
                    ".git",
                    ".git/HEAD",
                    ".git/refs/heads/main",
                    ".git/config.lock",
                    ".gitignore",
                    ".gitmodules",
                    ".github/workflows/hooks.yml",
                    "git/hooks",
                    ".cargo/config.toml",
                    ".vscode/extensions.json",
                    "key",
                    "pem/readme",
                ][..],
            ),
        ] {
            for path in paths {
                assert_eq!(rules.class(Path::new(path)), class, "{path:?}");
            }
        }
    }

    #[test]
    fn one_name_of_a_directory_is_classed_as_the_whole_path() {
        let rules = PathRules::default();
        for directory in ["", "a/b", ".git", ".ssh", ".git/modules/x"] {
            let mut within = rules.within(Path::new(directory));
            for name in ["hooks", "config", ".env", "Cargo.toml", ".GIT", "é.pem"] {
                assert_eq!(
                    within.class(OsStr::new(name)),
                    rules.class(&Path::new(directory).join(name)),
                    "{directory}/{name}"
                );
            }
        }
    }

    #[test]
    fn what_lies_above_a_rule_is_known() {
        let rules = PathRules::new(&globs(&["/conf/*/keys", "*/deep"]), &[]).expect("good globs");
        for (path, expected) in [
            (".git", Some(".git/hooks")),
            ("vendor/.Git", Some(".git/hooks")),
            (".git/modules/x", Some(".git/modules/**/hooks")),
            (".vscode", Some(".vscode/{tasks,settings,launch}.json")),
            ("conf", Some("/conf/*/keys")),
            ("conf/any", Some("/conf/*/keys")),
            ("a/conf", None),
            ("src", None),
            ("vendor", None),
            (".ssh", None),
        ] {
            let found = rules.rule_below(Path::new(path)).map(|rule| rule.glob);
            assert_eq!(found, expected, "{path}");
        }
    }

    #[test]
    fn added_globs_only_tighten() {
        let rules = PathRules::new(
            &globs(&["*.secret", "/top", "Data/Private/"]),
            &globs(&[".env", "migrations"]),
        )
        .expect("good globs");
        for (path, class) in [
            ("a/x.SECRET", Masked),
            ("top/x", Masked),
            ("a/top/x", Open),
            ("a/data/private/x", Masked),
            ("db/migrations/1.sql", Protected),
            // Masked before: naming it protected opens nothing.
            (".env", Masked),
            (".git/config", Protected),
        ] {
            assert_eq!(rules.class(Path::new(path)), class, "{path}");
        }
        assert_eq!(
            rules.rule(Path::new("a/x.secret")).map(|rule| rule.glob),
            Some("*.secret")
        );
        assert_ne!(rules, PathRules::default());
        assert_eq!(PathRules::default(), PathRules::default());
    }

    #[test]
    fn globs_that_would_surprise_are_refused() {
        for (glob, expected) in [
            ("!.env", "begins with `!`"),
            ("../x", "holds `.` or `..`"),
            ("a/./b", "holds `.` or `..`"),
            ("", "names no path"),
            ("/", "names no path"),
            ("**", "names no path"),
            ("*/*", "names no path"),
            ("a//b", "names no path"),
            ("[a", "is no glob"),
            ("{a", "is no glob"),
            ("{a/b,c}", "slash within braces"),
        ] {
            let error = PathRules::new(&globs(&[glob]), &[]).expect_err(glob);
            assert!(error.to_string().contains(expected), "{glob}: {error}");
        }
    }
}
