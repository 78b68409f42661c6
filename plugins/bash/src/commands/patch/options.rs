//! The options of `patch`.

/// What was asked for.
#[derive(Default)]
pub struct Options {
    /// `-p`
    pub strip: Option<usize>,
    /// `-R`
    pub reverse: bool,
    /// `-d`
    pub directory: Option<String>,
    /// `-i`, or the second operand
    pub input: Option<String>,
    /// The first operand
    pub file: Option<String>,
    /// `-o`
    pub output: Option<String>,
    /// `--dry-run`
    pub dry_run: bool,
    /// `-s`
    pub silent: bool,
    /// `-N`
    pub forward: bool,
    /// `-f`
    pub force: bool,
    /// `-t`
    pub batch: bool,
    /// `-b`
    pub backup: bool,
    /// `--no-backup-if-mismatch`
    pub no_mismatch_backup: bool,
    /// `-z`
    pub suffix: String,
    /// `-E`
    pub remove_empty: bool,
    /// `-F`
    pub fuzz: usize,
    /// `-l`
    pub blanks: bool,
}

/// Options with an argument, by letter and name.
const WITH_VALUE: [(char, &str); 7] = [
    ('p', "strip"),
    ('d', "directory"),
    ('i', "input"),
    ('o', "output"),
    ('z', "suffix"),
    ('F', "fuzz"),
    ('r', "reject-file"),
];

/// Options without one.
const PLAIN: [(char, &str); 10] = [
    ('R', "reverse"),
    ('s', "silent"),
    ('N', "forward"),
    ('f', "force"),
    ('t', "batch"),
    ('b', "backup"),
    ('E', "remove-empty-files"),
    ('l', "ignore-whitespace"),
    ('u', "unified"),
    ('s', "quiet"),
];

/// Reads the arguments.
pub fn parse(args: &[String]) -> Result<Options, String> {
    let mut options = Options {
        suffix: ".orig".to_owned(),
        fuzz: 2,
        ..Options::default()
    };
    let mut operands = Vec::new();
    let mut args = args.iter().map(String::as_str);
    while let Some(arg) = args.next() {
        if arg == "--" {
            operands.extend(args.by_ref());
        } else if let Some(long) = arg.strip_prefix("--") {
            let (name, value) = match long.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (long, None),
            };
            if let Some((letter, _)) = WITH_VALUE.iter().find(|(_, known)| *known == name) {
                let value = value.or_else(|| args.next());
                options.value(*letter, value.unwrap_or_default())?;
            } else if let Some((letter, _)) = PLAIN.iter().find(|(_, known)| *known == name) {
                options.letter(*letter)?;
            } else {
                match name {
                    "dry-run" => options.dry_run = true,
                    "no-backup-if-mismatch" => options.no_mismatch_backup = true,
                    "verbose" | "binary" | "posix" | "backup-if-mismatch" => {}
                    _ => return Err(format!("unrecognized option '{arg}'")),
                }
            }
        } else if arg.len() > 1 && arg.starts_with('-') {
            let mut letters = arg[1..].chars();
            while let Some(letter) = letters.next() {
                if WITH_VALUE.iter().any(|(known, _)| *known == letter) {
                    let value = match letters.as_str() {
                        "" => args.next(),
                        rest => Some(rest),
                    };
                    let missing = format!("option requires an argument -- '{letter}'");
                    options.value(letter, value.ok_or(missing)?)?;
                    break;
                }
                options.letter(letter)?;
            }
        } else {
            operands.push(arg);
        }
    }
    let mut operands = operands.into_iter().map(str::to_owned);
    options.file = operands.next();
    options.input = operands.next().or(options.input);
    match operands.next() {
        Some(extra) => Err(format!("{extra}: extra operand")),
        None => Ok(options),
    }
}

impl Options {
    fn letter(&mut self, letter: char) -> Result<(), String> {
        match letter {
            'R' => self.reverse = true,
            's' => self.silent = true,
            'N' => self.forward = true,
            'f' => self.force = true,
            't' => self.batch = true,
            'b' => self.backup = true,
            'E' => self.remove_empty = true,
            'l' => self.blanks = true,
            // The only form that is read.
            'u' => {}
            _ => return Err(format!("invalid option -- '{letter}'")),
        }
        Ok(())
    }

    fn value(&mut self, letter: char, value: &str) -> Result<(), String> {
        let number = || {
            let number = value.parse::<usize>();
            number.map_err(|_| format!("**** strip count {value} is not a number"))
        };
        match letter {
            'p' => self.strip = Some(number()?),
            'F' => self.fuzz = number()?,
            'd' => self.directory = Some(value.to_owned()),
            'i' => self.input = Some(value.to_owned()),
            'o' => self.output = Some(value.to_owned()),
            'z' => value.clone_into(&mut self.suffix),
            // `-r -` and a file for what does not fit: it is beside the file in any case.
            _ => return Err("the option -r is not available: rejects are in FILE.rej".to_owned()),
        }
        Ok(())
    }
}
