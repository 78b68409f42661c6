//! Native programs as commands: functions stand for them here. What holds a real one is tested
//! with the process sandbox.

use super::*;
use hotcell_sdk::{Command, Exit, Finished};

fn said(stdout: impl Into<Vec<u8>>) -> Finished {
    Finished {
        exit: Exit::Code(0),
        stdout: stdout.into(),
        stderr: Vec::new(),
    }
}

fn number(command: &Command) -> u8 {
    let first = command.arguments().first();
    first.map_or(0, |first| first.parse().expect("a number"))
}

/// Lines that no buffer on the way holds at once.
const MANY: usize = 100_000;

/// The programs: `git` prints its arguments, `python3` its input in capitals, `cargo` where it is
/// and its variables, `npm` very much; `make` fails with a status and `node` by a signal.
fn host(place: &Place) -> MockHost {
    let workspace = place.workspace();
    place
        .host()
        .with_program("git", |command, _| {
            let lines = command.arguments().iter().map(|word| format!("{word}\n"));
            said(lines.collect::<String>())
        })
        .with_program("python3", |_, input| said(input.to_ascii_uppercase()))
        .with_program("make", |command, _| Finished {
            exit: Exit::Code(number(command)),
            stdout: b"made\n".to_vec(),
            stderr: b"warned\n".to_vec(),
        })
        .with_program("node", |command, _| Finished {
            exit: Exit::Signal(number(command)),
            stdout: b"begun\n".to_vec(),
            stderr: Vec::new(),
        })
        .with_program("cargo", move |command, _| {
            let directory = command.working_directory().expect("a directory");
            let below = directory.strip_prefix(&workspace).expect("below");
            let mut variables: Vec<_> = command.environment().to_vec();
            variables.sort();
            let mut text = format!("in {}\n", below.display());
            for (name, value) in variables {
                text.push_str(&format!("{name}={value}\n"));
            }
            said(text)
        })
        .with_program("npm", |_, _| {
            let lines = (0..MANY).map(|n| format!("line {n}\n"));
            said(lines.collect::<String>())
        })
}

/// Runs every script in a place of its own and compares what it prints, and its status.
fn check(cases: &[(&str, &str, i32)]) {
    let mut wrong = String::new();
    for (script, expected, status) in cases {
        let place = Place::new();
        let answer = run(&host(&place), script);
        if printed(&answer).replace("(no output)\n", "") != *expected
            || !has_status(&answer, *status)
        {
            wrong.push_str(&format!(
                "--- {script}\nexpected {status} and:\n{expected}answered:\n{answer}\n"
            ));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn a_program_is_a_command_like_any_other() {
    check(&[
        ("git a 'b  c' \"\" '*'", "a\nb  c\n\n*\n", 0),
        ("type git", "git is /usr/bin/git\n", 0),
        ("type -t git; type -P git", "file\n/usr/bin/git\n", 0),
        (
            "command -v git; which git; command -V git",
            "/usr/bin/git\n/usr/bin/git\ngit is /usr/bin/git\n",
            0,
        ),
        ("command -v go || echo none", "none\n", 0),
        ("/usr/bin/git a; command git b", "a\nb\n", 0),
        ("git() { echo mine; }; git; command git a", "mine\na\n", 0),
        ("alias g=git; shopt -s expand_aliases\ng a", "a\n", 0),
        ("g=git; $g a; eval 'git b'", "a\nb\n", 0),
        ("if git x > /dev/null; then echo yes; fi", "yes\n", 0),
        ("for f in a b; do git $f; done", "a\nb\n", 0),
        ("(git a); { git b; }", "a\nb\n", 0),
        ("bash -c 'git \"$1\"' _ a; sh -c 'git b'", "a\nb\n", 0),
        ("echo 'git \"$@\"' > s; bash s a b", "a\nb\n", 0),
        ("timeout 5 git a; env A=1 git b; nice git c", "a\nb\nc\n", 0),
        ("exec git a; echo never", "a\n", 0),
        ("git a & wait; git b", "a\nb\n", 0),
        ("git a > f & git b > g & wait; cat f g", "a\nb\n", 0),
    ]);
}

#[test]
fn bytes_go_into_a_program_and_out_of_it() {
    let all = format!("{MANY}\n");
    check(&[
        ("echo hello | python3", "HELLO\n", 0),
        ("git b a | sort", "a\nb\n", 0),
        ("git x | python3 | sed s/X/y/", "y\n", 0),
        ("git a | git b; python3 | cat", "b\n", 0),
        ("python3 <<'E'\nhere $x\nE", "HERE $X\n", 0),
        ("x=1; python3 <<-E\n\there $x\n\tE", "HERE 1\n", 0),
        ("python3 <<< word; python3 < kept.txt", "WORD\nKEPT\n", 0),
        ("python3 < /dev/null; python3", "", 0),
        ("{ echo a; git b; } | python3", "A\nB\n", 0),
        ("echo \"[$(git a)]\" \"$(echo b | python3)\"", "[a] B\n", 0),
        (
            "x=`git a`; echo $x$x; y=($(git 1 2 3)); echo ${#y[@]}",
            "aa\n3\n",
            0,
        ),
        ("diff <(git a) <(git b)", "1c1\n< a\n---\n> b\n", 1),
        ("git a | tee f | python3; cat f", "A\na\n", 0),
        ("printf 'a b' | xargs git x", "x\na\nb\n", 0),
        ("printf '1\\n2\\n' | xargs -n1 git", "1\n2\n", 0),
        ("printf 'a\\0b c\\0' | xargs -0 git", "a\nb c\n", 0),
        ("printf '1\\n2\\n' | xargs -I{} git n{}", "n1\nn2\n", 0),
        ("find . -name kept.txt -exec git {} \\;", "./kept.txt\n", 0),
        ("find . -name kept.txt -exec git {} +", "./kept.txt\n", 0),
        ("printf '\\377\\000b' | python3 | xxd -p", "ff0042\n", 0),
        (
            "printf '\\377\\000b' > f; python3 < f > g; xxd -p g",
            "ff0042\n",
            0,
        ),
        ("npm | wc -l; npm | npm | wc -l", &format!("{all}{all}"), 0),
        (
            "npm > f; wc -l < f; python3 < f | grep -c LINE",
            &format!("{all}{all}"),
            0,
        ),
        ("x=$(npm); echo \"$x\" | tail -1", "line 99999\n", 0),
        ("npm | python3 | tail -1", "LINE 99999\n", 0),
        // A program that reads nothing does not hold up what would write to it.
        ("npm | git a", "a\n", 0),
        // Nobody reads on: the program is ended.
        (
            "npm | head -2; echo ${PIPESTATUS[0]}",
            "line 0\nline 1\n141\n",
            0,
        ),
        ("npm | grep -q line && echo found", "found\n", 0),
    ]);
}

#[test]
fn a_program_in_a_loop_leaves_the_loop_its_input() {
    check(&[
        (
            "git 1 2 3 | while read -r n; do git n$n; done",
            "n1\nn2\nn3\n",
            0,
        ),
        (
            "git 1 2 3 | while read -r n; do python3 > /dev/null; git $n; done",
            "1\n2\n3\n",
            0,
        ),
        (
            "cat kept.txt kept.txt | while read -r f; do git $f; done",
            "kept\nkept\n",
            0,
        ),
        ("while read -r n; do git $n; done < <(git 1 2)", "1\n2\n", 0),
        (
            "git 1 2 > f; while IFS= read -r n; do git $n | python3; done < f",
            "1\n2\n",
            0,
        ),
        ("mapfile -t x < <(git 1 2); git \"${x[@]}\"", "1\n2\n", 0),
        // Afterwards everything else is as before.
        (
            "read -r x < kept.txt; git $x | python3; make 2> f; cat f",
            "KEPT\nmade\nwarned\n",
            0,
        ),
        (
            "read -r x < kept.txt; npm | head -1; npm | npm | wc -l",
            "line 0\n100000\n",
            0,
        ),
        (
            "read -r x < kept.txt; make 7 > f 2>&1; echo $?; cat f",
            "7\nmade\nwarned\n",
            0,
        ),
    ]);
}

#[test]
fn redirections_take_both_streams_of_a_program() {
    check(&[
        ("make", "made\nwarned\n", 0),
        ("make 2> /dev/null", "made\n", 0),
        ("make > /dev/null", "warned\n", 0),
        ("make > f; cat f", "warned\nmade\n", 0),
        ("make > f 2>&1; cat f", "made\nwarned\n", 0),
        (
            "make &> f; make >> f 2> /dev/null; cat f",
            "made\nwarned\nmade\n",
            0,
        ),
        ("make 2>&1 > /dev/null | python3", "WARNED\n", 0),
        ("make 2>&1 | python3", "MADE\nWARNED\n", 0),
        ("make |& python3", "MADE\nWARNED\n", 0),
        ("make 3>&1 > /dev/null 2>&3 | python3", "WARNED\n", 0),
        ("x=$(make 2> /dev/null); echo \"[$x]\"", "[made]\n", 0),
        (
            "exec > f; make; exec > /dev/null; python3 < f",
            "warned\n",
            0,
        ),
        (
            "make > none/f; echo $?",
            "bash: line 1: none/f: No such file or directory\n1\n",
            0,
        ),
    ]);
}

#[test]
fn a_program_ends_with_its_status_or_signal() {
    check(&[
        ("make 3 2> /dev/null", "made\n", 3),
        ("make 3 &> f; echo $?", "3\n", 0),
        ("make 3 &> f && echo no || echo yes", "yes\n", 0),
        ("! make 1 &> f; echo $?", "0\n", 0),
        ("make 3 2> f | cat; echo ${PIPESTATUS[*]}", "made\n3 0\n", 0),
        ("set -o pipefail; make 3 2> f | cat", "made\n", 3),
        ("set -e; make 4 &> f; echo never", "", 4),
        ("x=$(make 5 2> f); echo $? $x", "5 made\n", 0),
        ("make 5 &> f & wait $!; echo $?", "5\n", 0),
        ("trap 'echo trapped $?' ERR; make 6 &> f", "trapped 6\n", 6),
        (
            "node 15; echo $?",
            "begun\nbash: node: Terminated\n143\n",
            0,
        ),
        ("node 9", "begun\nbash: node: Killed\n", 137),
        (
            "node 11 2> f; cat f",
            "begun\nbash: node: Segmentation fault\n",
            0,
        ),
        ("node 2; node 13", "begun\nbegun\n", 141),
    ]);
}

#[test]
fn a_program_gets_the_directory_and_the_exported_variables() {
    let refused = "bash: cargo: native programs run below /workspace only, and this is /tmp\n";
    check(&[
        ("cargo", "in \n", 0),
        ("cd sub && cargo", "in sub\n", 0),
        ("(cd sub; cargo); cargo", "in sub\nin \n", 0),
        (
            "mkdir 'a b'; cd 'a b'; cargo; cd ..; rmdir 'a b'",
            "in a b\n",
            0,
        ),
        ("cd /tmp; cargo", refused, 126),
        ("cd /tmp; cargo | cat", refused, 0),
        ("A=1; cargo", "in \n", 0),
        ("A=1; B=2 cargo; cargo", "in \nB=2\nin \n", 0),
        (
            "export A='x y'; cargo; unset A; cargo",
            "in \nA=x y\nin \n",
            0,
        ),
        ("env A=1 B=2 cargo", "in \nA=1\nB=2\n", 0),
        ("HOME=/workspace cargo", "in \nHOME=/workspace\n", 0),
        ("export PATH=/workspace:$PATH; cargo", "in \n", 0),
    ]);
}

#[test]
fn what_the_shell_has_itself_is_not_replaced() {
    let place = Place::new();
    let own = place
        .host()
        .with_program("sort", |_, _| said("native\n"))
        .with_program("jq", |_, _| said("native\n"))
        .with_program("bash", |_, _| said("native\n"))
        .with_program("make", |_, _| said("native\n"));
    let script = "printf 'b\\na\\n' | sort; echo 1 | jq .; bash -c 'echo c'; make";
    assert_eq!(printed(&run(&own, script)), "a\nb\n1\nc\nnative\n");
}

#[test]
fn without_a_program_the_answer_says_why() {
    let place = Place::new();
    let answer = run(&host(&place), "go build; echo $?");
    assert_eq!(
        printed(&answer),
        "bash: go: command not found (native programs here: cargo git make node npm python3)\n127\n"
    );
    let narrow = host(&place).granting([Capability::WorkspaceRead, Capability::SessionState]);
    let answer = run(&narrow, "type git; command -v git; git status; echo $?");
    assert!(
        answer.contains(
            "\nbash: git: command not found (native programs need the `process` capability, which \
             this call was not given)\n127\n"
        ),
        "{answer}"
    );
    assert!(!answer.contains("/usr/bin/git"), "{answer}");
}
