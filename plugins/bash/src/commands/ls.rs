//! `ls`. It must never know which file system it lists.

mod long;

use super::date::zone;
use super::reason;
use bashkit::{
    Builtin, BuiltinContext, ExecResult, FileSystem, FileType, Metadata, Result, async_trait,
    normalize_path,
};
use jiff::tz::TimeZone;
use std::cmp::Reverse;
use std::path::{Path, PathBuf};

/// `ls` with the options that people use. bashkit's lacks `-S`, `-r` and `-p`, hides `.` and `..`
/// from `-a`, and prints five columns for `-l`.
pub struct Ls;

#[async_trait]
impl Builtin for Ls {
    async fn execute(&self, ctx: BuiltinContext<'_>) -> Result<ExecResult> {
        let (mut options, operands) = match parse(ctx.args) {
            Ok(parsed) => parsed,
            Err(message) => return Ok(ExecResult::err(message, 2)),
        };
        options.zone = Some(zone(ctx.env.get("TZ").map(String::as_str)));
        let mut listing = Listing {
            fs: ctx.fs.as_ref(),
            options,
            out: String::new(),
            err: String::new(),
        };
        listing.operands(ctx.cwd, &operands).await;
        Ok(ExecResult {
            exit_code: if listing.err.is_empty() { 0 } else { 2 },
            stdout: listing.out.into(),
            stderr: listing.err.into(),
            ..ExecResult::default()
        })
    }
}

/// Formats of `--time-style`.
const STYLES: [(&str, &str); 3] = [
    ("full-iso", "%F %T.%N %z"),
    ("long-iso", "%F %H:%M"),
    ("iso", "%F"),
];

/// What was asked for. Unset, names in byte order, one a line.
#[derive(Default)]
struct Options {
    all: bool,
    almost_all: bool,
    long: bool,
    human: bool,
    numeric: bool,
    no_group: bool,
    no_owner: bool,
    directory: bool,
    recursive: bool,
    reverse: bool,
    slash: bool,
    classify: bool,
    follow: bool,
    commas: bool,
    directories_first: bool,
    sort: Sort,
    /// The format of times; None for the one that depends on the age.
    time_style: Option<String>,
    /// The zone of times; UTC without one.
    zone: Option<TimeZone>,
}

#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum Sort {
    #[default]
    Name,
    Size,
    Time,
    Extension,
    None,
}

fn parse(args: &[String]) -> std::result::Result<(Options, Vec<&str>), String> {
    let (mut options, mut operands) = (Options::default(), Vec::new());
    let mut args = args.iter().map(String::as_str);
    while let Some(arg) = args.next() {
        if arg == "--" {
            operands.extend(args.by_ref());
        } else if let Some(long) = arg.strip_prefix("--") {
            match long {
                "all" => options.all = true,
                "almost-all" => options.almost_all = true,
                "human-readable" => options.human = true,
                "directory" => options.directory = true,
                "recursive" => options.recursive = true,
                "reverse" => options.reverse = true,
                "classify" => options.classify = true,
                "dereference" => options.follow = true,
                "group-directories-first" => options.directories_first = true,
                "sort=size" => options.sort = Sort::Size,
                "sort=time" => options.sort = Sort::Time,
                "sort=extension" => options.sort = Sort::Extension,
                "sort=none" => options.sort = Sort::None,
                // Nothing is coloured and every name is printed as it is.
                "color" | "color=auto" | "color=never" | "color=always" | "literal" => {}
                "full-time" => {
                    options.long = true;
                    options.time_style = Some(STYLES[0].1.to_owned());
                }
                _ => match long.strip_prefix("time-style=") {
                    Some(style) => options.time_style = Some(time_style(style)?),
                    None => return Err(format!("ls: unrecognized option '{arg}'\n")),
                },
            }
        } else if arg.len() > 1 && arg.starts_with('-') {
            for letter in arg.chars().skip(1) {
                options.set(letter)?;
            }
        } else {
            operands.push(arg);
        }
    }
    if operands.is_empty() {
        operands.push(".");
    }
    Ok((options, operands))
}

/// The format of a style.
fn time_style(style: &str) -> std::result::Result<String, String> {
    if let Some(format) = style.strip_prefix('+') {
        return Ok(format.to_owned());
    }
    let known = STYLES.iter().find(|(name, _)| *name == style);
    known
        .map(|(_, format)| (*format).to_owned())
        .ok_or(format!("ls: invalid argument '{style}' for 'time style'\n"))
}

impl Options {
    fn set(&mut self, letter: char) -> std::result::Result<(), String> {
        match letter {
            'a' => self.all = true,
            'A' => self.almost_all = true,
            'l' => self.long = true,
            'h' => self.human = true,
            'n' => (self.long, self.numeric) = (true, true),
            'g' => (self.long, self.no_owner) = (true, true),
            'o' => (self.long, self.no_group) = (true, true),
            'G' => self.no_group = true,
            'd' => self.directory = true,
            'R' => self.recursive = true,
            'r' => self.reverse = true,
            'p' => self.slash = true,
            'F' => self.classify = true,
            'L' | 'H' => self.follow = true,
            'm' => self.commas = true,
            'S' => self.sort = Sort::Size,
            't' => self.sort = Sort::Time,
            'X' => self.sort = Sort::Extension,
            'U' => self.sort = Sort::None,
            'f' => (self.sort, self.all) = (Sort::None, true),
            // There is no terminal: columns are lines, and names are not quoted.
            '1' | 'C' | 'x' | 'k' | 'N' => {}
            _ => return Err(format!("ls: invalid option -- '{letter}'\n")),
        }
        Ok(())
    }

    fn shows(&self, name: &str) -> bool {
        self.all || self.almost_all || !name.starts_with('.')
    }

    fn sort(&self, entries: &mut [Entry]) {
        // By name first: the other orders are stable on top of it.
        if self.sort != Sort::None {
            entries.sort_by(|a, b| a.name.cmp(&b.name));
        }
        match self.sort {
            Sort::Name | Sort::None => {}
            Sort::Size => entries.sort_by_key(|e| Reverse(e.metadata.size)),
            Sort::Time => entries.sort_by_key(|e| Reverse(e.metadata.modified)),
            Sort::Extension => {
                entries.sort_by_key(|e| e.name.rsplit_once('.').map(|(_, ext)| ext.to_owned()));
            }
        }
        if self.reverse && self.sort != Sort::None {
            entries.reverse();
        }
        if self.directories_first {
            entries.sort_by_key(|e| !e.metadata.file_type.is_dir());
        }
    }
}

/// One line of a listing.
struct Entry {
    name: String,
    metadata: Metadata,
    /// Where a symbolic link points, for the long form.
    target: Option<PathBuf>,
}

impl Entry {
    /// The name with the mark that `-p` and `-F` put behind it.
    fn shown(&self, options: &Options) -> String {
        let kind = self.metadata.file_type;
        let mark = match kind {
            FileType::Directory if options.slash || options.classify => "/",
            FileType::Symlink if options.classify && !options.long => "@",
            FileType::Fifo if options.classify => "|",
            FileType::File if options.classify && self.metadata.mode & 0o111 != 0 => "*",
            _ => "",
        };
        format!("{}{mark}", self.name)
    }
}

struct Listing<'a> {
    fs: &'a dyn FileSystem,
    options: Options,
    out: String,
    err: String,
}

impl Listing<'_> {
    async fn operands(&mut self, cwd: &Path, operands: &[&str]) {
        let (mut files, mut directories) = (Vec::new(), Vec::new());
        for operand in operands {
            let path = normalize_path(&cwd.join(operand));
            // A link to a directory is listed as the directory, but shown as a link by `-l`.
            let link_itself =
                (self.options.long || self.options.directory || self.options.classify)
                    && !self.options.follow
                    && !operand.ends_with('/');
            match self.entry((*operand).to_owned(), &path, link_itself).await {
                Ok(entry) if entry.metadata.file_type.is_dir() && !self.options.directory => {
                    directories.push((entry, path));
                }
                Ok(entry) => files.push(entry),
                Err(error) => {
                    let reason = reason(&error);
                    self.err
                        .push_str(&format!("ls: cannot access '{operand}': {reason}\n"));
                }
            }
        }
        self.options.sort(&mut files);
        if !files.is_empty() {
            self.print(&files, false);
        }
        directories.sort_by(|(a, _), (b, _)| a.name.cmp(&b.name));
        let headed = operands.len() > 1 || self.options.recursive;
        for (entry, path) in directories {
            self.directory(entry.name, path, headed).await;
        }
    }

    async fn entry(&self, name: String, path: &Path, link_itself: bool) -> Result<Entry> {
        let metadata = if link_itself {
            self.fs.lstat(path).await?
        } else {
            match self.fs.stat(path).await {
                Ok(metadata) => metadata,
                // A link to nothing is still there.
                Err(error) => self.fs.lstat(path).await.map_err(|_| error)?,
            }
        };
        let target = if self.options.long && metadata.file_type.is_symlink() {
            self.fs.read_link(path).await.ok()
        } else {
            None
        };
        Ok(Entry {
            name,
            metadata,
            target,
        })
    }

    /// Lists `path` and, with `-R`, what is below. Not recursive itself: a deep tree would end the
    /// component by its stack.
    async fn directory(&mut self, name: String, path: PathBuf, headed: bool) {
        let mut left = vec![(name, path)];
        while let Some((name, path)) = left.pop() {
            let mut entries = match self.entries(&path).await {
                Ok(entries) => entries,
                Err(error) => {
                    let reason = reason(&error);
                    self.err
                        .push_str(&format!("ls: cannot open directory '{name}': {reason}\n"));
                    continue;
                }
            };
            self.options.sort(&mut entries);
            if headed {
                let gap = if self.out.is_empty() { "" } else { "\n" };
                self.out.push_str(&format!("{gap}{name}:\n"));
            }
            self.print(&entries, true);
            if self.options.recursive {
                let below = entries.iter().rev().filter(|entry| {
                    entry.metadata.file_type.is_dir() && !matches!(entry.name.as_str(), "." | "..")
                });
                left.extend(below.map(|entry| {
                    let shown = format!("{}/{}", name.trim_end_matches('/'), entry.name);
                    (shown, path.join(&entry.name))
                }));
            }
        }
    }

    async fn entries(&self, path: &Path) -> Result<Vec<Entry>> {
        let mut entries = Vec::new();
        if self.options.all {
            let parent = path.parent().unwrap_or(path);
            entries.push(self.entry(".".to_owned(), path, false).await?);
            if let Ok(entry) = self.entry("..".to_owned(), parent, false).await {
                entries.push(entry);
            }
        }
        for found in self.fs.read_dir(path).await? {
            if !self.options.shows(&found.name) {
                continue;
            }
            // A listing of names does not look at each file; the modes need it.
            if self.options.long || self.options.classify || self.options.follow {
                let path = path.join(&found.name);
                if let Ok(entry) = self.entry(found.name, &path, !self.options.follow).await {
                    entries.push(entry);
                }
            } else {
                entries.push(Entry {
                    name: found.name,
                    metadata: found.metadata,
                    target: None,
                });
            }
        }
        Ok(entries)
    }

    fn print(&mut self, entries: &[Entry], whole_directory: bool) {
        if self.options.long {
            self.out
                .push_str(&long::lines(entries, &self.options, whole_directory));
            return;
        }
        let names = entries.iter().map(|entry| entry.shown(&self.options));
        if self.options.commas {
            if !entries.is_empty() {
                self.out.push_str(&names.collect::<Vec<_>>().join(", "));
                self.out.push('\n');
            }
            return;
        }
        for name in names {
            self.out.push_str(&name);
            self.out.push('\n');
        }
    }
}
