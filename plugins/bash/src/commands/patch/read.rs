//! A unified diff, read into the changes of each file. It must never know about files.

/// What a diff says of one file.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct FilePatch {
    /// The names behind `---` and `+++`, without a time. None for `/dev/null`, and for a file that
    /// was empty at the beginning of time, as `diff -N` writes it.
    pub names: [Option<String>; 2],
    /// The lines of the head, for the message that no file fits.
    pub head: Vec<String>,
    /// The number of the first line of the head in the diff, from 1.
    pub line: usize,
    /// What changes.
    pub hunks: Vec<Hunk>,
}

/// Lines that follow one another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hunk {
    /// First line of each file, from 1; 0 where there is none.
    pub starts: [usize; 2],
    /// ` `, `-` or `+`, and the line with its line break, if it has one.
    pub lines: Vec<(u8, Vec<u8>)>,
}

impl Hunk {
    /// The lines of one side, 0 for the old.
    pub fn side(&self, side: usize) -> Vec<&[u8]> {
        let other = [b'+', b'-'][side];
        let lines = self.lines.iter().filter(|(mark, _)| *mark != other);
        lines.map(|(_, line)| line.as_slice()).collect()
    }

    /// Unchanged lines at the beginning and at the end.
    pub fn context(&self) -> (usize, usize) {
        let same = |(mark, _): &&(u8, Vec<u8>)| *mark == b' ';
        let before = self.lines.iter().take_while(same).count();
        let after = self.lines.iter().rev().take_while(same).count();
        (before, after)
    }

    /// The same change the other way round.
    pub fn reversed(&self) -> Hunk {
        let mut lines = Vec::with_capacity(self.lines.len());
        let (mut removed, mut added) = (Vec::new(), Vec::new());
        for (mark, line) in &self.lines {
            match mark {
                b'-' => added.push((b'+', line.clone())),
                b'+' => removed.push((b'-', line.clone())),
                _ => {
                    lines.append(&mut removed);
                    lines.append(&mut added);
                    lines.push((*mark, line.clone()));
                }
            }
        }
        lines.append(&mut removed);
        lines.append(&mut added);
        Hunk {
            starts: [self.starts[1], self.starts[0]],
            lines,
        }
    }

    /// As it is written in a diff.
    pub fn write(&self, out: &mut Vec<u8>) {
        let span = |side: usize| match self.side(side).len() {
            1 => self.starts[side].to_string(),
            many => format!("{},{many}", self.starts[side]),
        };
        out.extend(format!("@@ -{} +{} @@\n", span(0), span(1)).bytes());
        for (mark, line) in &self.lines {
            out.push(*mark);
            out.extend(line);
            if !line.ends_with(b"\n") {
                out.extend(b"\n\\ No newline at end of file\n");
            }
        }
    }
}

/// Reads a diff. What is no part of one is passed over.
///
/// # Errors
/// The line where a hunk ends too early.
pub fn read(text: &[u8]) -> Result<Vec<FilePatch>, usize> {
    let lines: Vec<&[u8]> = text.split_inclusive(|byte| *byte == b'\n').collect();
    let mut files = Vec::<FilePatch>::new();
    let mut head = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let line = lines[at];
        let is_head = line.starts_with(b"--- ")
            && lines
                .get(at + 1)
                .is_some_and(|next| next.starts_with(b"+++ "));
        if is_head {
            let pair = [shown(line), shown(lines[at + 1])];
            let names = [&pair[0], &pair[1]].map(|line| name(&line[4..]));
            head.extend(pair);
            files.push(FilePatch {
                names,
                line: at + 2,
                head: std::mem::take(&mut head),
                hunks: Vec::new(),
            });
            at += 2;
        } else if let (Some(spans), Some(file)) = (spans(line), files.last_mut()) {
            let (hunk, next) = hunk(&lines, at + 1, spans)?;
            file.hunks.push(hunk);
            head.clear();
            at = next;
        } else {
            if line.starts_with(b"diff ") {
                head.clear();
            }
            head.push(shown(line));
            at += 1;
        }
    }
    files.retain(|file| !file.hunks.is_empty());
    Ok(files)
}

fn shown(line: &[u8]) -> String {
    String::from_utf8_lossy(line.trim_ascii_end()).into_owned()
}

/// The name in a line of a head.
fn name(text: &str) -> Option<String> {
    let (name, time) = text.split_once('\t').unwrap_or((text, ""));
    let name = name.trim_end().trim_matches('"');
    let is_nothing = name == "/dev/null" || time.trim_start().starts_with("1970-01-01 00:00:00");
    (!is_nothing && !name.is_empty()).then(|| name.to_owned())
}

/// First line and number of lines, of each file.
type Spans = [(usize, usize); 2];

/// Reads `@@ -1,3 +1,4 @@`.
fn spans(line: &[u8]) -> Option<Spans> {
    let line = String::from_utf8_lossy(line);
    let mut words = line.strip_prefix("@@ -")?.split(' ');
    let span = |word: &str| {
        let (start, count) = word.split_once(',').unwrap_or((word, "1"));
        Some((start.parse().ok()?, count.parse().ok()?))
    };
    Some([
        span(words.next()?)?,
        span(words.next()?.strip_prefix('+')?)?,
    ])
}

/// The hunk whose lines begin at `at`, and where it ends.
fn hunk(lines: &[&[u8]], mut at: usize, spans: Spans) -> Result<(Hunk, usize), usize> {
    let [(old, mut olds), (new, mut news)] = spans;
    let mut read = Vec::new();
    while olds > 0 || news > 0 {
        let line = *lines.get(at).ok_or(at + 1)?;
        // Mailers eat the blank of an empty line.
        let (mark, rest) = match line {
            b"\n" => (b' ', line),
            [mark, rest @ ..] => (*mark, rest),
            [] => return Err(at + 1),
        };
        let (takes_old, takes_new) = match mark {
            b' ' | b'\t' => (1, 1),
            b'-' => (1, 0),
            b'+' => (0, 1),
            b'\\' => {
                unterminate(&mut read);
                at += 1;
                continue;
            }
            _ => return Err(at + 1),
        };
        olds = usize::checked_sub(olds, takes_old).ok_or(at + 1)?;
        news = usize::checked_sub(news, takes_new).ok_or(at + 1)?;
        let mut text = rest.to_vec();
        if !text.ends_with(b"\n") {
            text.push(b'\n');
        }
        read.push((if mark == b'\t' { b' ' } else { mark }, text));
        at += 1;
    }
    if lines.get(at).is_some_and(|line| line.starts_with(b"\\")) {
        unterminate(&mut read);
        at += 1;
    }
    let hunk = Hunk {
        starts: [old, new],
        lines: read,
    };
    Ok((hunk, at))
}

/// Takes the line break from the last line.
fn unterminate(lines: &mut [(u8, Vec<u8>)]) {
    if let Some((_, line)) = lines.last_mut() {
        line.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIFF: &str = "diff -r a b\n--- a/f\t2026-01-01 00:00:00 +0000\n+++ b/f\tx\n\
        @@ -1,2 +1,3 @@\n one\n-two\n+2\n+3\n\\ No newline at end of file\n\
        Only in b: x\n--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+x\n";

    #[test]
    fn the_parts_of_a_diff_are_found() {
        let files = read(DIFF.as_bytes()).expect("a diff");
        assert_eq!(files.len(), 2);
        assert_eq!(files[0].names, [Some("a/f".into()), Some("b/f".into())]);
        assert_eq!(files[0].line, 3);
        assert_eq!(files[0].hunks[0].side(0), [b"one\n".as_slice(), b"two\n"]);
        assert_eq!(
            files[0].hunks[0].side(1),
            [b"one\n".as_slice(), b"2\n", b"3"]
        );
        assert_eq!(files[1].names, [None, Some("b/new".into())]);
        let back = files[0].hunks[0].reversed();
        assert_eq!(back.reversed(), files[0].hunks[0]);
        let mut text = Vec::new();
        files[0].hunks[0].write(&mut text);
        assert!(DIFF.contains(std::str::from_utf8(&text).expect("a text")));
    }

    #[test]
    fn a_hunk_that_ends_too_early_is_named_by_its_line() {
        for (text, line) in [
            ("--- a\n+++ a\n@@ -1,3 +1 @@\n-x\n", 5),
            ("--- a\n+++ a\n@@ -1 +1 @@\nx\n", 4),
        ] {
            assert_eq!(read(text.as_bytes()), Err(line), "{text}");
        }
        assert_eq!(read(b"no diff\n"), Ok(Vec::new()));
    }
}
