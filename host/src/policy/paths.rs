//! Which paths of a workspace a tool does not see, and which it does not change.
//!
//! Owns [`PathRules`]: the table of defaults, the globs that settings add, and the one way to ask
//! about a path. It exists here because the rules are part of a grant; whoever opens files asks
//! about the path it really reached. It must never open a file, and never let an added glob take a
//! default away.

mod defaults;
mod names;
#[cfg(test)]
mod tests;

use defaults::DEFAULTS;
use globset::{Candidate, GlobBuilder, GlobSet, GlobSetBuilder};
use names::Names;
use std::borrow::Cow;
use std::ffi::OsStr;
use std::fmt;
use std::path::{Component, Path};
use std::sync::{Arc, LazyLock};

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
    /// The names that `rules` end in.
    names: Names,
    /// What lies above something masked or protected, with the row that says so.
    above: GlobSet,
    above_rows: Vec<usize>,
    /// The last names that `above` speak of, without those that any name would match.
    above_names: Names,
}

impl PathRules {
    /// The defaults and the globs that are added to them. A glob with no slash at its beginning
    /// holds at any depth; `/conf` is that one directory of the workspace. `*` and `?` do not match
    /// a slash, `**` does.
    ///
    /// # Errors
    /// When a glob cannot be read, or would not mean what its writer believes.
    pub fn new(masked: &[String], protected: &[String]) -> Result<Self, PathRuleError> {
        if masked.is_empty() && protected.is_empty() {
            return Ok(Self::default());
        }
        Self::compile(masked, protected)
    }

    fn compile(masked: &[String], protected: &[String]) -> Result<Self, PathRuleError> {
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
        if self.compiled.names.pass_over_all(path) {
            return None;
        }
        let mut strictest: Option<PathRule<'_>> = None;
        let mut reached = String::with_capacity(path.as_os_str().len());
        for component in path.components() {
            match component {
                Component::CurDir => continue,
                Component::Normal(name) => {
                    let start = push(&mut reached, name);
                    if !self.compiled.names.may_end_a_rule(&reached[start..]) {
                        continue;
                    }
                }
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
        if self.compiled.above_names.pass_over_all(path) {
            return None;
        }
        let mut folded = String::with_capacity(path.as_os_str().len());
        let mut may_be_above = false;
        for component in path.components() {
            if let Component::Normal(name) = component {
                let start = push(&mut folded, name);
                may_be_above |= self.compiled.above_names.may_end_a_rule(&folded[start..]);
            }
        }
        if !may_be_above {
            return None;
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
        if self.compiled.names.pass_over(name.as_encoded_bytes()) {
            return self.own;
        }
        self.path.truncate(self.length);
        let start = push(&mut self.path, name);
        if !self.compiled.names.may_end_a_rule(&self.path[start..]) {
            return self.own;
        }
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
        let mut ends = Vec::new();
        let mut above_ends = Vec::new();
        for (index, row) in rows.iter().enumerate() {
            let parts = parts(&row.glob)?;
            rules.add(compile(&row.glob, &parts, parts.steps.len())?);
            // What opens again matters only where something else matches too.
            if row.class == Open {
                continue;
            }
            ends.push(parts.end(parts.steps.len()));
            for length in 1..parts.steps.len() {
                if parts.is_anchored || !parts.steps[..length].iter().all(|step| is_any(step)) {
                    above.add(compile(&row.glob, &parts, length)?);
                    above_rows.push(index);
                    above_ends.push(parts.last_name(length));
                }
            }
        }
        let wrong = |error: globset::Error| PathRuleError::Syntax {
            glob: error.glob().unwrap_or_default().to_owned(),
            problem: error.kind().to_string(),
        };
        let names = |ends: &[String]| Names::new(ends.iter().map(String::as_str)).map_err(wrong);
        Ok(Compiled {
            rules: rules.build().map_err(wrong)?,
            names: names(&ends)?,
            above: above.build().map_err(wrong)?,
            above_rows,
            above_names: names(&above_ends)?,
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

impl Parts<'_> {
    /// What the name must match that ends a path of the first `length` steps.
    fn end(&self, length: usize) -> String {
        self.steps[length - 1].to_lowercase()
    }

    /// The last of the first `length` steps that is not for any name, if there is one.
    fn last_name(&self, length: usize) -> String {
        let steps = &self.steps[..length];
        let named = steps.iter().rev().find(|step| !is_any(step));
        named.unwrap_or(&"**").to_lowercase()
    }
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

/// Adds a name to a path of folded names, and says where it begins.
fn push(path: &mut String, name: &OsStr) -> usize {
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
    start
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
        // Always the same, and every component that describes itself asks for it.
        static DEFAULT: LazyLock<PathRules> = LazyLock::new(|| {
            PathRules::compile(&[], &[]).expect("a test compiles the default globs")
        });
        DEFAULT.clone()
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
