//! Putting hunks into a text: at their place, or near it, or with less context.
//!
//! It must never know where the text comes from.

use super::read::Hunk;

/// How one hunk went in.
#[derive(Debug, PartialEq, Eq)]
pub struct Placed {
    /// Where, from line 1 of the text that results; None where it fits nowhere.
    pub line: Option<usize>,
    /// Lines below the place that the diff names; above it when negative.
    pub offset: isize,
    /// Lines of context that were left out to make it fit.
    pub fuzz: usize,
}

/// Applies `hunks` to `text`, with up to `fuzz` lines of context left out. The new text, and how
/// each hunk went.
pub fn apply(text: &[u8], hunks: &[Hunk], fuzz: usize, blanks: bool) -> (Vec<u8>, Vec<Placed>) {
    let mut lines: Vec<Vec<u8>> = text
        .split_inclusive(|byte| *byte == b'\n')
        .map(<[u8]>::to_vec)
        .collect();
    // What earlier hunks have moved, what they were off by, and where the last of them ended.
    let (mut grown, mut off, mut done) = (0_isize, 0_isize, 0_usize);
    let mut placed = Vec::new();
    for hunk in hunks {
        let (old, new) = (hunk.side(0), hunk.side(1));
        // A hunk without old lines names the line before it.
        let named = if old.is_empty() {
            hunk.starts[0]
        } else {
            hunk.starts[0].saturating_sub(1)
        };
        let place = named.saturating_add_signed(grown + off).max(done);
        let found = (0..=fuzz).find_map(|fuzz| {
            let (before, after) = hunk.context();
            let most = before.max(after);
            if fuzz > most {
                return None;
            }
            // GNU leaves out lines of the side with more context first. A side that has less is
            // the beginning or the end of the file.
            let left_out = |context: usize| (fuzz + context).checked_sub(most);
            let (front, back) = (left_out(before), left_out(after));
            let ends = [front.is_none(), back.is_none()];
            let (front, back) = (front.unwrap_or(0), back.unwrap_or(0));
            let wanted = &old[front..old.len() - back];
            let at = near(&lines, wanted, place + front, done, blanks, ends)?;
            Some((at - front.min(at), front, back, fuzz))
        });
        let Some((at, front, back, fuzz)) = found else {
            placed.push(Placed {
                line: None,
                offset: 0,
                fuzz: 0,
            });
            continue;
        };
        let kept = at + front..at + old.len() - back;
        let put: Vec<Vec<u8>> = replacement(hunk, &lines[kept.clone()], front, back);
        let end = kept.start + put.len();
        lines.splice(kept, put);
        let expected = named.saturating_add_signed(grown);
        off = signed(at) - signed(expected);
        grown += signed(new.len()) - signed(old.len());
        done = end;
        placed.push(Placed {
            line: Some(at + usize::from(!new.is_empty())),
            offset: off,
            fuzz,
        });
    }
    (lines.concat(), placed)
}

/// The new lines of a hunk, without `front` and `back` lines of context. Unchanged lines are those
/// of the file, which may differ in blanks.
fn replacement(hunk: &Hunk, found: &[Vec<u8>], front: usize, back: usize) -> Vec<Vec<u8>> {
    let mut found = found.iter();
    let mut put = Vec::new();
    for (mark, line) in &hunk.lines[front..hunk.lines.len() - back] {
        match mark {
            b'+' => put.push(line.clone()),
            b'-' => {
                found.next();
            }
            _ => put.push(found.next().unwrap_or(line).clone()),
        }
    }
    put
}

/// The place of `wanted` that is nearest to `place`, the one below first, not before `from`. With
/// `ends` it is only looked for at the beginning, or the end, of the file.
fn near(
    lines: &[Vec<u8>],
    wanted: &[&[u8]],
    place: usize,
    from: usize,
    blanks: bool,
    ends: [bool; 2],
) -> Option<usize> {
    let last = lines.len().checked_sub(wanted.len())?;
    let fits = |at: usize| {
        at >= from
            && at <= last
            && lines[at..at + wanted.len()]
                .iter()
                .zip(wanted)
                .all(|(line, wanted)| is_same(line, wanted, blanks))
    };
    let only = |at: usize| fits(at).then_some(at);
    match ends {
        [true, true] if last > 0 => return None,
        [true, _] => return only(0),
        [false, true] => return only(last),
        [false, false] => {}
    }
    if wanted.is_empty() {
        return (place <= lines.len()).then_some(place);
    }
    let farthest = lines.len().max(place);
    (0..=farthest).find_map(|distance| {
        let below = place.checked_add(distance).and_then(only);
        below.or_else(|| place.checked_sub(distance).and_then(only))
    })
}

/// Whether a line of the file is the one that a hunk has. A missing line break is a difference
/// unless blanks are ignored.
fn is_same(line: &[u8], wanted: &[u8], blanks: bool) -> bool {
    if blanks {
        let words = |line: &[u8]| {
            line.split(u8::is_ascii_whitespace)
                .filter(|word| !word.is_empty())
                .map(<[u8]>::to_vec)
                .collect::<Vec<_>>()
        };
        return words(line) == words(wanted);
    }
    line == wanted
}

fn signed(number: usize) -> isize {
    isize::try_from(number).unwrap_or(isize::MAX)
}

#[cfg(test)]
mod tests {
    use super::super::read::read;
    use super::*;

    fn applied(text: &str, diff: &str) -> (String, Vec<(Option<usize>, isize, usize)>) {
        let diff = format!("--- f\n+++ f\n{diff}");
        let files = read(diff.as_bytes()).expect("a diff");
        let (text, placed) = apply(text.as_bytes(), &files[0].hunks, 2, false);
        let placed = placed.into_iter().map(|p| (p.line, p.offset, p.fuzz));
        (String::from_utf8(text).expect("a text"), placed.collect())
    }

    #[test]
    fn a_hunk_goes_where_it_fits() {
        let cases = [
            (
                "1\n2\n3\n",
                "@@ -1,3 +1,3 @@\n 1\n-2\n+x\n 3\n",
                "1\nx\n3\n",
                vec![(Some(1), 0, 0)],
            ),
            // Two lines further down.
            (
                "a\nb\n1\n2\n3\n4\n",
                "@@ -2,3 +2,3 @@\n 2\n-3\n+x\n 4\n",
                "a\nb\n1\n2\nx\n4\n",
                vec![(Some(4), 2, 0)],
            ),
            // Other lines at the borders; less context before is cut last.
            (
                "q\n1\n2\n3\n4\nz\n",
                "@@ -1,6 +1,6 @@\n o\n 1\n-2\n+x\n 3\n 4\n y\n",
                "q\n1\nx\n3\n4\nz\n",
                vec![(Some(1), 0, 2)],
            ),
            (
                "1\n",
                "@@ -1,3 +1,3 @@\n 1\n-x\n+y\n 3\n",
                "1\n",
                vec![(None, 0, 0)],
            ),
            (
                "",
                "@@ -0,0 +1,2 @@\n+a\n+b\n",
                "a\nb\n",
                vec![(Some(1), 0, 0)],
            ),
            (
                "a\nb\n",
                "@@ -1,2 +0,0 @@\n-a\n-b\n",
                "",
                vec![(Some(0), 0, 0)],
            ),
            (
                "a",
                "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n",
                "a\n",
                vec![(Some(1), 0, 0)],
            ),
        ];
        for (text, diff, expected, placed) in cases {
            assert_eq!(applied(text, diff), (expected.to_owned(), placed), "{diff}");
        }
    }
}
