//! Which files the shell may run as a script.
//!
//! Owns the reading of a `#!` line. bashkit runs any executable file as a shell script; a Python
//! program run line by line as bash does what nobody wrote. It must never know where a file is.

/// Bytes of a file that [`kind`] needs. Linux reads as many.
pub const START_BYTES: u64 = 256;

/// What a file is, by its first line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// No `#!` line.
    NoScript,
    /// For a shell that this one can stand in for.
    Shell,
    /// For another interpreter.
    Other,
}

/// Reads the first line of a file that begins with `start`.
pub fn kind(start: &[u8]) -> Kind {
    let Some(line) = start.strip_prefix(b"#!") else {
        return Kind::NoScript;
    };
    let line = line.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let line = String::from_utf8_lossy(line);
    let mut words = line.split_ascii_whitespace();
    let name = |word: &str| word.rsplit('/').next().unwrap_or_default().to_owned();
    let mut interpreter = words.next().map(name);
    if interpreter.as_deref() == Some("env") {
        // `env -S`, and variables before the name.
        let word = words.find(|word| !word.starts_with('-') && !word.contains('='));
        interpreter = word.map(name);
    }
    match interpreter.as_deref() {
        Some("sh" | "bash" | "dash" | "ash" | "ksh") => Kind::Shell,
        _ => Kind::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interpreter_is_read_from_the_first_line() {
        let cases = [
            ("", Kind::NoScript),
            ("echo", Kind::NoScript),
            (" #!/bin/sh", Kind::NoScript),
            ("#!/bin/sh\necho", Kind::Shell),
            ("#! /usr/local/bin/bash -eu\n", Kind::Shell),
            ("#!/usr/bin/env bash", Kind::Shell),
            ("#!/usr/bin/env -S A=1 bash -e\n", Kind::Shell),
            ("#!/usr/bin/env python3\n", Kind::Other),
            ("#!/usr/bin/python\n#!/bin/sh", Kind::Other),
            ("#!/bin/shx\n", Kind::Other),
            ("#!", Kind::Other),
            ("#!/usr/bin/env\n", Kind::Other),
        ];
        for (start, expected) in cases {
            assert_eq!(kind(start.as_bytes()), expected, "{start:?}");
        }
    }
}
