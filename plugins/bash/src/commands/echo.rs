//! `echo`. It must never know where its output goes.

use crate::pace::Pace;
use bashkit::{Builtin, BuiltinContext, ExecResult, Result, async_trait};
use std::sync::Arc;

/// `echo`, as bash has it, but one that waits first: see [`Pace`]. bashkit's prints at once,
/// and what an earlier command wrote to the other stream would come after it.
pub struct Echo(pub Arc<Pace>);

#[async_trait]
impl Builtin for Echo {
    async fn execute(&self, ctx: BuiltinContext<'_>) -> Result<ExecResult> {
        self.0.breathe().await;
        Ok(ExecResult {
            stdout: echo(ctx.args).into(),
            ..ExecResult::default()
        })
    }
}

/// What `echo` prints for `args`.
fn echo(args: &[String]) -> Vec<u8> {
    let is_option = |arg: &str| {
        arg.strip_prefix('-')
            .is_some_and(|o| !o.is_empty() && o.bytes().all(|b| b"neE".contains(&b)))
    };
    let options = args.iter().take_while(|arg| is_option(arg)).count();
    let (options, words) = args.split_at(options);
    let (mut newline, mut escapes) = (true, false);
    for option in options.iter().flat_map(|o| o.bytes()) {
        match option {
            b'n' => newline = false,
            b'e' => escapes = true,
            b'E' => escapes = false,
            _ => {}
        }
    }
    let text = words.join(" ");
    let mut out = Vec::with_capacity(text.len() + 1);
    if escapes {
        if unescape(&text, &mut out) {
            return out;
        }
    } else {
        out.extend_from_slice(text.as_bytes());
    }
    if newline {
        out.push(b'\n');
    }
    out
}

/// Appends `text` with the escapes of `echo -e` replaced. True when `\c` ended it.
fn unescape(text: &str, out: &mut Vec<u8>) -> bool {
    let mut rest = text;
    while let Some((plain, escape)) = rest.split_once('\\') {
        out.extend_from_slice(plain.as_bytes());
        let mut after = escape.chars();
        let byte = match after.next() {
            Some('a') => 0x07,
            Some('b') => 0x08,
            Some('c') => return true,
            Some('e' | 'E') => 0x1b,
            Some('f') => 0x0c,
            Some('n') => b'\n',
            Some('r') => b'\r',
            Some('t') => b'\t',
            Some('v') => 0x0b,
            Some('\\') => b'\\',
            Some(kind @ ('0' | 'x' | 'u' | 'U')) => {
                let (radix, most) = match kind {
                    '0' => (8, 3),
                    'x' => (16, 2),
                    'u' => (16, 4),
                    _ => (16, 8),
                };
                let digits = after.as_str();
                let count = digits
                    .chars()
                    .take(most)
                    .take_while(|c| c.is_digit(radix))
                    .count();
                let value = u32::from_str_radix(&digits[..count], radix).ok();
                match (kind, value) {
                    // `\0` alone is a byte, `\x` alone is text.
                    ('0', value) => out.push((value.unwrap_or(0) & 0xff) as u8),
                    ('x', Some(value)) => out.push(value as u8),
                    ('u' | 'U', Some(value)) => {
                        let character =
                            char::from_u32(value).unwrap_or(char::REPLACEMENT_CHARACTER);
                        out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                    }
                    _ => out.extend_from_slice(&[b'\\', kind as u8]),
                }
                rest = &digits[count..];
                continue;
            }
            other => {
                out.push(b'\\');
                rest = escape;
                if other.is_none() {
                    break;
                }
                continue;
            }
        };
        out.push(byte);
        rest = after.as_str();
    }
    out.extend_from_slice(rest.as_bytes());
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn echo_prints_what_bash_prints() {
        // Expected values from bash 5.2.
        let cases: [(&[&str], &[u8]); 19] = [
            (&[], b"\n"),
            (&["a", "b  c"], b"a b  c\n"),
            (&["-n", "a"], b"a"),
            (&["-nn", "-n", "a"], b"a"),
            (&["-n"], b""),
            (&["--", "a"], b"-- a\n"),
            (&["-x", "-n"], b"-x -n\n"),
            (&["-"], b"-\n"),
            (&["a\\nb"], b"a\\nb\n"),
            (&["-e", "a\\nb\\t\\\\"], b"a\nb\t\\\n"),
            (&["-eE", "a\\nb"], b"a\\nb\n"),
            (&["-ne", "\\x41\\0101\\u00e4\\x"], "AA\u{e4}\\x".as_bytes()),
            (&["-e", "a\\cb", "c"], b"a"),
            (&["-e", "\\q\\"], b"\\q\\\n"),
            (&["-e", "\\\\n"], b"\\n\n"),
            (&["-e", "\\0"], b"\0\n"),
            (&["-e", "\\xff"], b"\xff\n"),
            (&["-e", "\\033[1m"], b"\x1b[1m\n"),
            (&["--help"], b"--help\n"),
        ];
        for (args, expected) in cases {
            let args: Vec<String> = args.iter().map(|a| (*a).to_owned()).collect();
            assert_eq!(
                echo(&args).escape_ascii().to_string(),
                expected.escape_ascii().to_string()
            );
        }
    }
}
