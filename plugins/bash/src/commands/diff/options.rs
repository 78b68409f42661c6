//! The options of `diff`.

use super::lines::Sameness;
use super::show::Form;

/// What was asked for.
pub struct Options {
    /// The form of the output.
    pub form: Form,
    /// What counts as the same.
    pub sameness: Sameness,
    /// `-q`
    pub brief: bool,
    /// `-s`
    pub identical: bool,
    /// `-r`
    pub recursive: bool,
    /// `-N`
    pub new_file: bool,
    /// `-a`
    pub text: bool,
    /// `-p`
    pub functions: bool,
    /// `--suppress-common-lines`
    pub only_changes: bool,
    /// `--label`, the first for the first file
    pub labels: Vec<String>,
    /// `-x`
    pub exclude: Vec<String>,
    /// The options as they were written, for the line before each pair of a directory.
    pub written: Vec<String>,
}

type Parsed = Result<(Options, [String; 2]), String>;

/// Lines around a change, and columns, without a number.
const AROUND: usize = 3;
const COLUMNS: usize = 130;

/// Options with an argument: letter, name, whether the argument may be missing.
const WITH_VALUE: [(char, &str, bool); 6] = [
    ('U', "unified", true),
    ('C', "context", true),
    ('W', "width", false),
    ('x', "exclude", false),
    ('L', "label", false),
    ('\0', "color", true),
];

/// Reads the arguments.
pub fn parse(args: &[String]) -> Parsed {
    let mut options = Options {
        form: Form::Normal,
        sameness: Sameness::default(),
        brief: false,
        identical: false,
        recursive: false,
        new_file: false,
        text: false,
        functions: false,
        only_changes: false,
        labels: Vec::new(),
        exclude: Vec::new(),
        written: Vec::new(),
    };
    let (mut operands, mut width) = (Vec::new(), COLUMNS);
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        if arg == "--" {
            operands.extend(args.by_ref().cloned());
            break;
        }
        let Some(option) = arg.strip_prefix('-').filter(|rest| !rest.is_empty()) else {
            operands.push(arg.clone());
            continue;
        };
        options.written.push(arg.clone());
        if let Some(long) = option.strip_prefix('-') {
            let (name, mut value) = match long.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (long, None),
            };
            let known = WITH_VALUE.iter().find(|(_, known, _)| *known == name);
            if value.is_none() && known.is_some_and(|(_, _, optional)| !optional) {
                value = args.next().cloned();
                options.written.extend(value.clone());
            }
            options.long(name, value, &mut width)?;
            continue;
        }
        let mut letters = option.chars();
        while let Some(letter) = letters.next() {
            if letter.is_ascii_digit() {
                // `-3` is an old way to write `-U 3` and `-C 3`.
                let number: String = std::iter::once(letter)
                    .chain(letters.by_ref().take_while(char::is_ascii_digit))
                    .collect();
                options.around(number.parse().unwrap_or(AROUND));
            } else if WITH_VALUE.iter().any(|(known, ..)| *known == letter) {
                let mut value = letters.as_str().to_owned();
                if value.is_empty() {
                    let next = args.next();
                    value = next
                        .cloned()
                        .ok_or(format!("option requires an argument -- '{letter}'"))?;
                    options.written.push(value.clone());
                }
                let name = WITH_VALUE.iter().find(|(known, ..)| *known == letter);
                let name = name.map_or("", |(_, name, _)| name);
                options.long(name, Some(value), &mut width)?;
                break;
            } else {
                options.letter(letter)?;
            }
        }
    }
    if let Form::SideBySide(columns) = &mut options.form {
        *columns = width;
    }
    match <[String; 2]>::try_from(operands) {
        Ok(operands) => Ok((options, operands)),
        Err(operands) => Err(match operands.as_slice() {
            [] => "missing operand after 'diff'".to_owned(),
            [only] => format!("missing operand after '{only}'"),
            more => format!("extra operand '{}'", more[2]),
        }),
    }
}

impl Options {
    fn around(&mut self, lines: usize) {
        self.form = match self.form {
            Form::Context(_) => Form::Context(lines),
            _ => Form::Unified(lines),
        };
    }

    fn letter(&mut self, letter: char) -> Result<(), String> {
        match letter {
            'q' => self.brief = true,
            's' => self.identical = true,
            'r' => self.recursive = true,
            'N' => self.new_file = true,
            'a' => self.text = true,
            'p' => {
                self.functions = true;
                if self.form == Form::Normal {
                    self.form = Form::Context(AROUND);
                }
            }
            'u' => {
                if !matches!(self.form, Form::Unified(_)) {
                    self.form = Form::Unified(AROUND);
                }
            }
            'c' => {
                if !matches!(self.form, Form::Context(_)) {
                    self.form = Form::Context(AROUND);
                }
            }
            'y' => self.form = Form::SideBySide(COLUMNS),
            'i' => self.sameness.case = true,
            'w' => self.sameness.all_space = true,
            'b' => self.sameness.space_change = true,
            'Z' => self.sameness.trailing_space = true,
            'B' => self.sameness.blank_lines = true,
            // Every answer here is a shortest one.
            'd' | 'H' => {}
            _ => return Err(format!("invalid option -- '{letter}'")),
        }
        Ok(())
    }

    fn long(&mut self, name: &str, value: Option<String>, width: &mut usize) -> Result<(), String> {
        let number = |value: &str| {
            let number = value.parse::<usize>();
            number.map_err(|_| format!("invalid {name} length '{value}'"))
        };
        match (name, value) {
            ("unified", None) => self.letter('u')?,
            ("unified", Some(value)) => self.form = Form::Unified(number(&value)?),
            ("context", None) => self.letter('c')?,
            ("context", Some(value)) => self.form = Form::Context(number(&value)?),
            ("width", Some(value)) => *width = number(&value)?,
            ("exclude", Some(value)) => self.exclude.push(value),
            ("label", Some(value)) => self.labels.push(value),
            ("normal", None) => self.form = Form::Normal,
            ("strip-trailing-cr", None) => self.sameness.carriage_return = true,
            ("suppress-common-lines", None) => self.only_changes = true,
            // Nothing is coloured, and links are followed as without the option.
            ("color", _) | ("speed-large-files" | "minimal", None) => {}
            (_, None) => match LONG.iter().find(|(known, _)| *known == name) {
                Some((_, letter)) => self.letter(*letter)?,
                None => return Err(format!("unrecognized option '--{name}'")),
            },
            (_, Some(_)) => return Err(format!("unrecognized option '--{name}'")),
        }
        Ok(())
    }
}

/// Long names of letters.
const LONG: [(&str, char); 12] = [
    ("brief", 'q'),
    ("report-identical-files", 's'),
    ("recursive", 'r'),
    ("new-file", 'N'),
    ("text", 'a'),
    ("show-c-function", 'p'),
    ("side-by-side", 'y'),
    ("ignore-case", 'i'),
    ("ignore-all-space", 'w'),
    ("ignore-space-change", 'b'),
    ("ignore-trailing-space", 'Z'),
    ("ignore-blank-lines", 'B'),
];

/// Whether a name fits a pattern of `-x`: `*`, `?` and letters.
pub fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) =
        (pattern.chars().collect(), name.chars().collect());
    let (mut p, mut n) = (0, 0);
    // Where the last star was, and how much of the name it has taken.
    let mut star = None;
    while n < name.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, n));
                p += 1;
            }
            Some(letter) if *letter == '?' || *letter == name[n] => {
                p += 1;
                n += 1;
            }
            _ => match star {
                Some((at, taken)) => {
                    p = at + 1;
                    n = taken + 1;
                    star = Some((at, n));
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|letter| *letter == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_of_names_fits_all_of_a_name() {
        for (pattern, name, fits) in [
            ("*.o", "a.o", true),
            ("*.o", "a.op", false),
            ("?.*", "a.b.c", true),
            ("a*b*c", "axxbyybc", true),
            ("", "a", false),
            ("*", "", true),
        ] {
            assert_eq!(matches(pattern, name), fits, "{pattern} {name}");
        }
    }
}
