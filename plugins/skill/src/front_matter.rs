//! The front matter of a SKILL.md, as the Agent Skills format has it: YAML between two lines of
//! `---`, with `name` and `description`.
//!
//! Owns what is wrong with it, in words. A bad one never hides the skill and is never silent: the
//! instructions are still there, under a notice.

use hotcell_sdk::Deserialize;

/// The instructions, and what the user should hear about the front matter.
#[derive(Debug, PartialEq, Eq)]
pub struct Body<'text> {
    pub text: &'text str,
    pub notices: Vec<String>,
}

/// The keys that every skill has. Others (licence, metadata, allowed tools) are not used here.
#[derive(Deserialize)]
struct FrontMatter {
    #[serde(default)]
    name: String,
    #[serde(default)]
    description: String,
}

/// Splits a SKILL.md. `name` is the skill's directory, which the front matter must repeat.
pub fn read<'text>(file: &'text str, name: &str) -> Body<'text> {
    let (yaml, text) = match split(file) {
        Ok(parts) => parts,
        Err(notice) => {
            return Body {
                text: file,
                notices: vec![notice.to_owned()],
            };
        }
    };
    let notices = match serde_saphyr::from_str::<FrontMatter>(yaml) {
        Ok(found) => check(&found, name),
        Err(error) => vec![format!(
            "the front matter is not valid YAML: {}",
            first_line(&error.to_string())
        )],
    };
    Body { text, notices }
}

fn check(found: &FrontMatter, name: &str) -> Vec<String> {
    let mut notices = Vec::new();
    if found.name.trim().is_empty() {
        notices.push("the front matter has no `name`".to_owned());
    } else if found.name != name {
        notices.push(format!(
            "the front matter names the skill `{}`, but its directory is `{name}`",
            found.name.escape_debug()
        ));
    }
    if found.description.trim().is_empty() {
        notices.push("the front matter has no `description`".to_owned());
    }
    notices
}

fn split(file: &str) -> Result<(&str, &str), &'static str> {
    let mut lines = file.split_inclusive('\n');
    let Some(opening) = lines.next().filter(|line| is_fence(line)) else {
        return Err("there is no front matter: the first line is not `---`");
    };
    let start = opening.len();
    let mut end = start;
    for line in lines {
        if is_fence(line) {
            return Ok((&file[start..end], &file[end + line.len()..]));
        }
        end += line.len();
    }
    Err("the front matter does not end: there is no second line `---`")
}

fn is_fence(line: &str) -> bool {
    line.trim_end() == "---"
}

/// Parsers draw the place under their message; a notice is one line.
fn first_line(message: &str) -> &str {
    message.lines().next().unwrap_or("no reason given")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn good_front_matter_is_taken_off() {
        let table = [
            (
                "---\nname: pdf\ndescription: Fills forms\n---\n# Steps\n",
                "# Steps\n",
            ),
            ("---\r\nname: pdf\r\ndescription: x\r\n---\r\nbody", "body"),
            (
                "---  \nname: \"pdf\"\ndescription: >\n  two\n  lines\nlicense: MIT\nmetadata: {a: [1]}\n---\n",
                "",
            ),
            (
                "---\nname: pdf\ndescription: x\n---\na\n---\nb\n",
                "a\n---\nb\n",
            ),
        ];
        for (file, text) in table {
            let notices = Vec::new();
            assert_eq!(read(file, "pdf"), Body { text, notices }, "{file:?}");
        }
    }

    #[test]
    fn bad_front_matter_is_a_notice_over_the_instructions() {
        let table = [
            ("# Steps\n", "# Steps\n", "there is no front matter"),
            ("", "", "there is no front matter"),
            ("---\nname: pdf\n", "---\nname: pdf\n", "does not end"),
            ("---\nname: [pdf\n---\nx", "x", "not valid YAML"),
            ("---\nname: a: b\n---\nx", "x", "not valid YAML"),
            ("---\n- name\n---\nx", "x", "not valid YAML"),
            ("---\ndescription: x\n---\nx", "x", "has no `name`"),
            ("---\nname: pdf\n---\nx", "x", "has no `description`"),
            (
                "---\nname: doc\ndescription: x\n---\nx",
                "x",
                "names the skill `doc`, but its directory is `pdf`",
            ),
        ];
        for (file, text, notice) in table {
            let body = read(file, "pdf");
            assert_eq!(body.text, text, "{file:?}");
            assert_eq!(body.notices.len(), 1, "{file:?}: {body:?}");
            assert!(body.notices[0].contains(notice), "{file:?}: {body:?}");
            assert!(!body.notices[0].contains('\n'), "{body:?}");
        }
    }

    #[test]
    fn a_bomb_of_aliases_is_refused_in_little_time() {
        let mut bomb = String::from("---\na0: &a0 [x, x, x, x, x, x, x, x, x]\n");
        for level in 1..30 {
            let previous = format!("*a{}, ", level - 1).repeat(9);
            bomb.push_str(&format!("a{level}: &a{level} [{previous}]\n"));
        }
        bomb.push_str("name: pdf\ndescription: x\n---\nx");
        assert_eq!(read(&bomb, "pdf").text, "x");
    }
}
