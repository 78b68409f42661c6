//! Whether to colour, by the conventions of the terminal.
//!
//! Owns the reading of `NO_COLOR`, `CLICOLOR`, `CLICOLOR_FORCE` and `TERM`, so that the renderers
//! get a plain yes or no.

use super::Environment;

/// What the user wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ColorWhen {
    /// On a terminal, unless a variable says otherwise.
    #[default]
    Auto,
    /// Also into files and pipes.
    Always,
    /// Nowhere.
    Never,
}

impl ColorWhen {
    /// Every choice with its name.
    pub const ALL: [(&'static str, ColorWhen); 3] = [
        ("auto", ColorWhen::Auto),
        ("always", ColorWhen::Always),
        ("never", ColorWhen::Never),
    ];
}

/// Whether each stream is coloured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Colors {
    /// Standard output.
    pub stdout: bool,
    /// Standard error.
    pub stderr: bool,
}

impl Colors {
    /// Resolves `when`. A variable counts where it is set and not empty (no-color.org,
    /// bixense.com/clicolors).
    pub fn resolve(when: ColorWhen, environment: &Environment) -> Colors {
        let both = |yes| Colors {
            stdout: yes,
            stderr: yes,
        };
        let is = |name: &str, expected: &str| environment.os(name).is_some_and(|v| v == expected);
        match when {
            ColorWhen::Always => both(true),
            ColorWhen::Never => both(false),
            ColorWhen::Auto if environment.os("NO_COLOR").is_some() => both(false),
            ColorWhen::Auto
                if environment.os("CLICOLOR_FORCE").is_some() && !is("CLICOLOR_FORCE", "0") =>
            {
                both(true)
            }
            ColorWhen::Auto if is("CLICOLOR", "0") || is("TERM", "dumb") => both(false),
            ColorWhen::Auto => Colors {
                stdout: environment.terminals().stdout,
                stderr: environment.terminals().stderr,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Terminals;

    #[test]
    fn a_table_of_choices() {
        let (on, off) = ((true, true), (false, false));
        let cases: &[(ColorWhen, &[(&str, &str)], (bool, bool))] = &[
            (ColorWhen::Auto, &[], (true, false)),
            (ColorWhen::Auto, &[("NO_COLOR", "1")], off),
            (ColorWhen::Auto, &[("NO_COLOR", "")], (true, false)),
            (ColorWhen::Auto, &[("CLICOLOR_FORCE", "1")], on),
            (ColorWhen::Auto, &[("CLICOLOR_FORCE", "0")], (true, false)),
            (
                ColorWhen::Auto,
                &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")],
                off,
            ),
            (ColorWhen::Auto, &[("CLICOLOR", "0")], off),
            (ColorWhen::Auto, &[("TERM", "dumb")], off),
            (ColorWhen::Always, &[("NO_COLOR", "1")], on),
            (ColorWhen::Never, &[("CLICOLOR_FORCE", "1")], off),
        ];
        for (when, variables, (stdout, stderr)) in cases {
            let environment = Environment::from_map(variables.iter().copied(), "/w")
                .with_terminals(Terminals {
                    stdin: false,
                    stdout: true,
                    stderr: false,
                });
            assert_eq!(
                Colors::resolve(*when, &environment),
                Colors {
                    stdout: *stdout,
                    stderr: *stderr
                },
                "{when:?} {variables:?}"
            );
        }
    }
}
