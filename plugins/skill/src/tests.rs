//! The tool through a mock host, over skills in a temporary directory.

use super::*;
use hotcell_sdk::ErrorKind;
use hotcell_sdk::testing::{MockHost, assert_definitions_match, json};
use std::fs;
use std::path::Path;

struct Skills {
    directory: tempfile::TempDir,
    host: MockHost,
}

impl Skills {
    fn new(files: &[(&str, &str)]) -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory");
        for (path, content) in files {
            let file = directory.path().join(path);
            let parent = file.parent().expect("a file in a directory");
            fs::create_dir_all(parent).expect("writable");
            fs::write(file, content).expect("writable");
        }
        let host = MockHost::new("unused").with_skills(directory.path());
        Skills { directory, host }
    }

    fn root(&self) -> &Path {
        self.directory.path()
    }

    fn load(&self, name: &str, path: Option<&str>) -> Result<String, ToolError> {
        self.host
            .call::<UseSkill>(json!({ "name": name, "path": path }))
            .map(|answer| answer.to_text())
    }
}

const PDF: &str = "---\nname: pdf\ndescription: Fills forms\n---\n\n# Fill a form\n\nSee forms.md.";

#[test]
fn the_body_is_answered_with_the_other_files() {
    let skills = Skills::new(&[
        ("pdf/SKILL.md", PDF),
        ("pdf/forms.md", "one\ntwo\n"),
        ("pdf/scripts/fill.py", "print()"),
        (
            "doc/SKILL.md",
            "\u{feff}---\r\nname: doc\r\ndescription: x\r\n---\r\nWrite.",
        ),
    ]);
    assert_eq!(
        skills.load("pdf", None),
        Ok("skill `pdf`\n\n# Fill a form\n\nSee forms.md.\n\n\
            other files of this skill, to load with `path`:\nforms.md\nscripts/fill.py\n"
            .to_owned())
    );
    assert_eq!(
        skills.load("doc", None),
        Ok("skill `doc`\n\nWrite.\n".to_owned())
    );
    for path in ["forms.md", "./forms.md", "forms.md/"] {
        assert_eq!(skills.load("pdf", Some(path)), Ok("one\ntwo\n".to_owned()));
    }
    assert_eq!(
        skills.load("pdf", Some("scripts/fill.py")),
        Ok("print()".to_owned())
    );
}

#[test]
fn bad_front_matter_is_visible_and_the_body_is_still_there() {
    let skills = Skills::new(&[("pdf/SKILL.md", "---\nname: [\n---\nSteps\n")]);
    let answer = skills.load("pdf", None).expect("an answer");
    assert!(
        answer.contains("\nnotice, tell the user: SKILL.md: the front matter is not valid YAML"),
        "{answer}"
    );
    assert!(answer.ends_with("\n\nSteps\n"), "{answer}");
}

#[test]
fn what_is_not_there_is_named_with_what_is() {
    let skills = Skills::new(&[
        ("pdf/SKILL.md", PDF),
        ("pdf/forms.md", "x"),
        ("empty/notes.txt", "x"),
        ("file", "x"),
    ]);
    let table = [
        (
            "pfd",
            None,
            "there is no skill `pfd`; installed are empty, pdf",
        ),
        (
            "file",
            None,
            "there is no skill `file`; installed are empty, pdf",
        ),
        (
            "empty",
            None,
            "skill `empty` has no SKILL.md: it is not a skill",
        ),
        (
            "pdf",
            Some("form.md"),
            "skill `pdf` has no file `form.md`; its files are forms.md",
        ),
    ];
    for (name, path, message) in table {
        let error = skills.load(name, path).expect_err(message);
        assert_eq!(error.kind(), ErrorKind::NotFound);
        assert_eq!(error.message(), message);
    }
    let none = Skills::new(&[]);
    let error = none.load("pdf", None).expect_err("no skill");
    assert_eq!(
        error.message(),
        "there is no skill `pdf`; no skills are installed"
    );
}

#[test]
fn names_that_are_paths_are_refused_and_shown_escaped() {
    let skills = Skills::new(&[("pdf/SKILL.md", PDF)]);
    let long = "x".repeat(300);
    for name in ["", "..", "../pdf", "a/b", "con", "pdf\n\u{1b}[2K", &long] {
        let error = skills.load(name, None).expect_err(name);
        assert_eq!(error.kind(), ErrorKind::InvalidArguments, "{name:?}");
        assert!(!error.message().contains(['\n', '\u{1b}']), "{error}");
        assert!(error.message().len() < 200, "{error}");
    }
}

#[test]
fn a_path_stays_inside_its_own_skill() {
    let skills = Skills::new(&[
        ("pdf/SKILL.md", PDF),
        ("pdf/deep/a.md", "x"),
        ("doc/secret.md", "secret"),
    ]);
    for path in [
        "../doc/secret.md",
        "deep/../../doc/secret.md",
        "/etc/passwd",
        "..",
        "deep/..",
        "..\\doc",
        "a\0b",
    ] {
        let error = skills.load("pdf", Some(path)).expect_err(path);
        assert_eq!(error.kind(), ErrorKind::Denied, "{path:?}: {error}");
    }
    for (path, message) in [
        ("", "`path` is empty"),
        (".", "`path` is empty"),
        ("deep", "`deep` is a directory; its files are deep/a.md"),
    ] {
        let error = skills.load("pdf", Some(path)).expect_err(path);
        assert_eq!(error.kind(), ErrorKind::InvalidArguments, "{path:?}");
        assert!(error.message().starts_with(message), "{error}");
    }
}

#[test]
fn files_that_are_no_text_are_named_by_size() {
    let skills = Skills::new(&[("pdf/SKILL.md", PDF), ("pdf/empty.md", "")]);
    for bytes in [b"\x89PNG\r\n\x1a\n\0".as_slice(), b"a\0b", b"\xff\xfea"] {
        fs::write(skills.root().join("pdf/x.bin"), bytes).expect("writable");
        let error = skills.load("pdf", Some("x.bin")).expect_err("refused");
        assert_eq!(error.kind(), ErrorKind::InvalidArguments);
        assert!(
            error
                .message()
                .contains(&format!("({} bytes)", bytes.len())),
            "{error}"
        );
    }
    assert_eq!(
        skills.load("pdf", Some("empty.md")),
        Ok("(the file is empty)".to_owned())
    );
}

#[cfg(unix)]
#[test]
fn links_and_pipes_are_not_opened() {
    let skills = Skills::new(&[("pdf/SKILL.md", PDF), ("doc/secret.md", "secret")]);
    let root = skills.root();
    let link =
        |from: &str, to: &str| std::os::unix::fs::symlink(from, root.join(to)).expect("writable");
    link("../doc/secret.md", "pdf/file");
    link("../doc", "pdf/directory");
    link("doc", "linked");
    let made = std::process::Command::new("mkfifo")
        .arg(root.join("pdf/pipe"))
        .status();
    assert!(made.is_ok_and(|status| status.success()), "mkfifo is there");
    let table = [
        ("pdf", Some("file"), ErrorKind::Denied),
        ("pdf", Some("directory/secret.md"), ErrorKind::Denied),
        ("linked", Some("secret.md"), ErrorKind::Denied),
        ("pdf", Some("pipe"), ErrorKind::InvalidArguments),
    ];
    for (name, path, kind) in table {
        let error = skills.load(name, path).expect_err("refused");
        assert_eq!(error.kind(), kind, "{path:?}: {error}");
    }
    let answer = skills.load("pdf", None).expect("an answer");
    assert!(!answer.contains("other files"), "{answer}");
}

#[test]
fn the_model_reads_what_was_reviewed() {
    assert_definitions_match(
        concat!(env!("CARGO_MANIFEST_DIR"), "/definitions.json"),
        &[hotcell_sdk::definition::<UseSkill>()],
    );
}
