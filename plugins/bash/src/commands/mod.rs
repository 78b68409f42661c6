//! Which commands this shell has.
//!
//! Owns the list of bashkit's commands that are left out, those that are replaced, and the answer
//! for a command that is not there. It must never know about the call.

mod column;
mod date;
mod diff;
mod echo;
mod guarded;
mod ls;
mod mv;
mod patch;
mod program;
mod rm;
mod sleep;
mod tee;
mod tuned;

use crate::pace::Pace;
use bashkit::{Builtin, BuiltinContext, CommandResolver, Error, ExecResult, Result, async_trait};
use column::Column;
use date::Date;
use diff::Diff;
use echo::Echo;
use guarded::{GUARDED, Guarded};
use ls::Ls;
use mv::Mv;
use patch::Patch;
pub use program::{Reading, program};
use rm::{Rm, Rmdir};
use sleep::Sleep;
use std::io::ErrorKind;
use std::sync::Arc;
use tee::Tee;
use tuned::{Cmp, Cp, Gzip, Mkdir, Numfmt, Realpath, Stat, Zcat, Zgrep};

/// Commands of bashkit that are not offered: imitations of programs that would be mistaken for
/// the real one, invented facts about a machine, editors without a terminal, and inventions of
/// bashkit under names that a project may use for its own scripts.
const LEFT_OUT: [&str; 30] = [
    // Imitations.
    "busybox", "curl", "git", "http", "make", "openssl", "parallel", "scp", "sftp", "sqlite3",
    "ssh", "sudo", "wget", // Facts about no machine.
    "free", "getconf", "hostid", // Editors and other terminals.
    "nano", "terminal", "vi", "watch", // Known to bashkit only.
    "assert", "csv", "dotenv", "glob", "json", "log", "retry", "semver", "template", "verify",
];

/// Whether bashkit's own command `name` is offered.
pub fn is_kept(name: &str) -> bool {
    !LEFT_OUT.contains(&name)
}

/// Commands in place of bashkit's own; each says why.
pub fn replacements(pace: &Arc<Pace>) -> Vec<(&'static str, Box<dyn Builtin>)> {
    let mut commands: Vec<(&'static str, Box<dyn Builtin>)> = vec![
        ("cmp", Box::new(Cmp)),
        ("column", Box::new(Column)),
        ("cp", Box::new(Cp)),
        ("date", Box::new(Date)),
        ("diff", Box::new(Diff)),
        ("echo", Box::new(Echo(Arc::clone(pace)))),
        ("gzip", Box::new(Gzip)),
        ("ls", Box::new(Ls)),
        ("mkdir", Box::new(Mkdir)),
        ("mv", Box::new(Mv)),
        ("numfmt", Box::new(Numfmt)),
        ("patch", Box::new(Patch)),
        ("realpath", Box::new(Realpath)),
        ("rm", Box::new(Rm)),
        ("rmdir", Box::new(Rmdir)),
        ("sleep", Box::new(Sleep)),
        ("stat", Box::new(Stat)),
        ("tee", Box::new(Tee)),
        ("zcat", Box::new(Zcat)),
        ("zgrep", Box::new(Zgrep)),
    ];
    commands.extend(GUARDED.map(|(name, status)| {
        let command: Box<dyn Builtin> = Box::new(Guarded { name, status });
        (name, command)
    }));
    commands
}

/// Answers for every command that nothing else answered for.
pub struct NotFound {
    why: Arc<str>,
    pace: Arc<Pace>,
}

impl NotFound {
    /// Where the native programs are `programs`; `None` when the call may start none.
    pub fn new(programs: Option<&[String]>, pace: &Arc<Pace>) -> NotFound {
        let why = match programs {
            None => "native programs need the `process` capability, which this call was not given"
                .to_owned(),
            Some([]) => "this call was given no native programs".to_owned(),
            Some(programs) => format!("native programs here: {}", programs.join(" ")),
        };
        NotFound {
            why: why.into(),
            pace: Arc::clone(pace),
        }
    }
}

impl CommandResolver for NotFound {
    fn resolve(&self, name: &str) -> Option<Arc<dyn Builtin>> {
        Some(Arc::new(Missing {
            name: name.to_owned(),
            why: Arc::clone(&self.why),
            pace: Arc::clone(&self.pace),
        }))
    }
}

struct Missing {
    name: String,
    why: Arc<str>,
    pace: Arc<Pace>,
}

#[async_trait]
impl Builtin for Missing {
    async fn execute(&self, _: BuiltinContext<'_>) -> Result<ExecResult> {
        self.pace.breathe().await;
        let Missing { name, why, .. } = self;
        Ok(ExecResult::err(
            format!("bash: {name}: command not found ({why})\n"),
            127,
        ))
    }
}

/// What a Unix tool says of `error`, without bashkit's prefix.
fn reason(error: &Error) -> String {
    match error {
        Error::Io(e) if e.kind() == ErrorKind::NotFound => "No such file or directory".into(),
        Error::Io(e) if e.to_string() == "directory not empty" => "Directory not empty".into(),
        Error::Io(e) if e.to_string() == "is a directory" => "Is a directory".into(),
        Error::Io(e) => e.to_string(),
        error => error.to_string(),
    }
}
