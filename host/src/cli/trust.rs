//! `hotcell trust`, and the question that a run asks on a terminal.

use super::args::TrustArgs;
use super::exit::{CommandError, Exit};
use super::wiring;
use crate::config::{Answer, Config, ConfigError, Environment, Flags, TrustFile};
use crate::render::escape;
use std::io::{self, BufRead, Write};

pub(super) fn trust(args: &TrustArgs, environment: &Environment) -> Result<Exit, CommandError> {
    let flags = Flags {
        workspace: args.path.clone(),
        ..Flags::default()
    };
    let mut out = io::stdout().lock();
    if args.list {
        let file = file(&Config::of_place(&flags, environment)?)?;
        for (path, answer) in file.answers()? {
            let answer = match answer {
                Answer::Trusted => "trusted",
                Answer::Refused => "refused",
            };
            writeln!(out, "{answer}  {}", escape::line(&path))?;
        }
        return Ok(Exit::Done);
    }
    let config = Config::of_place(&flags, environment)?;
    let answer = if args.untrust {
        Answer::Refused
    } else {
        Answer::Trusted
    };
    file(&config)?.set(&config.workspace, Some(answer))?;
    let shown = config.workspace.display().to_string();
    let (what, undone) = match answer {
        Answer::Trusted => ("is trusted", "hotcell trust --untrust"),
        Answer::Refused => ("is not trusted any more", "hotcell trust"),
    };
    writeln!(
        out,
        "{} {what}; `{undone}` takes it back",
        escape::line(&shown)
    )?;
    Ok(Exit::Done)
}

/// The settings of a run. Where somebody sits at a terminal and the workspace waits for an answer,
/// they are asked for it first, once; anywhere else nothing is trusted by itself.
pub(super) fn settled(
    flags: &Flags,
    environment: &Environment,
    may_ask: bool,
) -> Result<Config, CommandError> {
    let config = Config::resolve(flags, environment)?;
    let terminals = environment.terminals();
    if !(may_ask && terminals.stdin && terminals.stderr && config.trust.is_open()) {
        return Ok(config);
    }
    let Some(answer) = ask(&config, io::stdin().lock(), io::stderr())? else {
        return Ok(config);
    };
    file(&config)?.set(&config.workspace, Some(answer))?;
    Ok(Config::resolve(flags, environment)?)
}

/// Asks until the answer is one; `None` where the terminal is closed.
fn ask(
    config: &Config,
    mut input: impl BufRead,
    mut output: impl Write,
) -> io::Result<Option<Answer>> {
    writeln!(
        output,
        "{} has {}.\nThey can tell the model what to do. Do you trust who wrote this workspace?",
        escape::line(&config.workspace.display().to_string()),
        wiring::list(&config.trust.left_out),
    )?;
    loop {
        write!(output, "[y]es, [n]o (nothing of that is read): ")?;
        output.flush()?;
        let mut line = String::new();
        if input.read_line(&mut line)? == 0 {
            writeln!(output)?;
            return Ok(None);
        }
        match line.trim().to_ascii_lowercase().as_str() {
            "y" | "yes" => return Ok(Some(Answer::Trusted)),
            "n" | "no" => return Ok(Some(Answer::Refused)),
            _ => {}
        }
    }
}

fn file(config: &Config) -> Result<TrustFile, CommandError> {
    let data = config.directories.data.as_deref();
    Ok(TrustFile::new(data.ok_or(ConfigError::NoDataDirectory)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(typed: &str) -> (Option<Answer>, String) {
        let workspace = tempfile::tempdir().expect("a workspace");
        std::fs::write(workspace.path().join("AGENTS.md"), "x").expect("a file");
        std::fs::write(workspace.path().join("hotcell.toml"), "").expect("a file");
        let none: [(String, String); 0] = [];
        let environment = Environment::from_map(none, workspace.path());
        let config = Config::resolve(&Flags::default(), &environment).expect("settings");
        let mut output = Vec::new();
        let answer = ask(&config, typed.as_bytes(), &mut output).expect("a terminal");
        (answer, String::from_utf8(output).expect("text"))
    }

    #[test]
    fn the_question_names_what_it_is_about_and_waits_for_an_answer() {
        for (typed, answer) in [
            ("y\n", Some(Answer::Trusted)),
            ("YES\n", Some(Answer::Trusted)),
            ("\nperhaps\nn\n", Some(Answer::Refused)),
            ("", None),
            ("\n", None),
            ("yes please\n", None),
        ] {
            let (given, output) = asked(typed);
            assert_eq!(given, answer, "{typed:?}");
            assert!(output.contains("hotcell.toml and AGENTS.md"), "{output}");
        }
    }

    #[test]
    fn where_nobody_sits_nothing_is_trusted() {
        let root = tempfile::tempdir().expect("a directory");
        let home = root.path().join("home").display().to_string();
        let workspace = root.path().join("work");
        std::fs::create_dir(&workspace).expect("a workspace");
        std::fs::write(workspace.join("hotcell.toml"), "plan = true").expect("a file");
        let environment = Environment::from_map([("HOME", home)], &workspace);
        let config = settled(&Flags::default(), &environment, true).expect("settings");
        assert!(!config.plan && config.trust.is_open());
    }
}
