//! The component of bash in the sandbox: what its own tests show natively holds behind WASI too.

use super::*;
use std::fs;

struct Bench {
    toolbox: Toolbox,
    place: tempfile::TempDir,
}

impl Bench {
    /// A workspace `ws` beside a directory `outside`.
    async fn new() -> Bench {
        let place = tempfile::tempdir().expect("a temporary directory");
        for directory in ["ws/sub", "outside"] {
            fs::create_dir_all(place.path().join(directory)).expect("a directory");
        }
        fs::write(place.path().join("outside/secret"), "SECRET\n").expect("a file");
        fs::write(place.path().join("ws/kept.txt"), "kept\n").expect("a file");
        let toolbox = Toolbox::load(&sandbox(), &[builtin("bash")], &[])
            .await
            .expect("the shell");
        Bench { toolbox, place }
    }

    fn workspace(&self) -> PathBuf {
        self.place.path().join("ws")
    }

    async fn run(&self, mode: Mode, command: &str, secs: u64) -> String {
        self.run_in(&self.workspace(), mode, command, secs).await
    }

    async fn run_in(&self, workspace: &Path, mode: Mode, command: &str, secs: u64) -> String {
        let arguments = json!({ "command": command, "timeout_secs": secs });
        let result = call(&self.toolbox, &policy(workspace, mode), "bash", arguments).await;
        assert_eq!(result.error, None, "{command}: {}", result.text());
        result.text()
    }
}

/// What was printed, and the status in the last line before what the host adds.
fn parts(answer: &str) -> (String, i32) {
    let answer = answer.split("\nrefused: ").next().unwrap_or_default();
    let body = answer.trim_end_matches(|c| c != '\n');
    let status = answer[body.len()..]
        .strip_prefix("[exit status ")
        .and_then(|rest| rest.split(',').next())
        .and_then(|status| status.parse().ok())
        .unwrap_or(-1);
    (body.replace("(no output)\n", ""), status)
}

#[tokio::test]
async fn scripts_answer_in_the_sandbox_as_they_do_in_bash() {
    let bench = Bench::new().await;
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../plugins/bash/tests/scripts.txt"
    );
    let text = fs::read_to_string(path).expect("the scripts of the bash plugin");
    let (files, cases) = text.split_once("@case ").expect("files, then cases");
    let mut wrong = String::new();
    let mut count = 0;
    for case in cases.split("\n@case ") {
        let (name, case) = case.split_once('\n').expect("a name");
        let (script, expected) = case.split_once("@status ").expect("a status");
        let (status, output) = expected.split_once('\n').unwrap_or((expected, ""));
        let workspace = tempfile::tempdir().expect("a workspace");
        for file in files.split("@file ").skip(1) {
            let (path, content) = file.split_once('\n').expect("a path");
            let path = workspace.path().join(path);
            fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
            fs::write(path, content).expect("a file");
        }
        let answer = bench.run_in(workspace.path(), Mode::Act, script, 60).await;
        let (printed, ended) = parts(&answer);
        if printed.trim_end() != output.trim_end() || ended.to_string() != status {
            wrong.push_str(&format!(
                "--- {name}\n{script}expected {status}:\n{output}\nanswered:\n{answer}\n"
            ));
        }
        count += 1;
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(count >= 60, "{count}");
}

#[cfg(unix)]
#[tokio::test]
async fn the_shell_reaches_nothing_outside() {
    let bench = Bench::new().await;
    let outside = bench.place.path().join("outside");
    let workspace = bench.workspace();
    std::os::unix::fs::symlink(&outside, workspace.join("absolute")).expect("a link");
    std::os::unix::fs::symlink("../outside", workspace.join("relative")).expect("a link");
    std::os::unix::fs::symlink("../outside/secret", workspace.join("file")).expect("a link");
    std::os::unix::fs::symlink("/proc/self/environ", workspace.join("environ")).expect("a link");
    for command in [
        format!("cat {}/secret", outside.display()),
        "cat absolute/secret relative/secret file".into(),
        "cat ../outside/secret; cd ../outside && cat secret".into(),
        "cd relative && cat secret".into(),
        "cat environ /proc/self/environ /etc/shadow".into(),
        "echo x > file; echo x >> relative/secret; echo x > absolute/new".into(),
        "cp kept.txt relative/; mv kept.txt absolute/; rm -rf relative/* absolute/".into(),
        "ln -s /etc e; cat e/hostname; ln -s ../outside o; cat o/secret".into(),
    ] {
        let answer = bench.run(Mode::Act, &command, 20).await;
        assert!(!answer.contains("SECRET"), "{command}: {answer}");
        assert!(!answer.contains("PATH="), "{command}: {answer}");
        let entries = fs::read_dir(&outside).expect("the directory").count();
        assert_eq!(entries, 1, "{command}: {answer}");
        let secret = fs::read_to_string(outside.join("secret")).expect("the file");
        assert_eq!(secret, "SECRET\n", "{command}: {answer}");
    }
}

/// The lines of a section of the bash plugin's `faults.txt`: a command, and what comes of it.
#[cfg(unix)]
fn faults(section: &str) -> Vec<(String, String)> {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../plugins/bash/tests/faults.txt"
    );
    let text = fs::read_to_string(path).expect("the faults of the bash plugin");
    let lines = text
        .split("\n@")
        .find_map(|part| part.strip_prefix(section)?.strip_prefix('\n'))
        .expect("the section");
    lines
        .lines()
        .map(|line| {
            line.split_once(" => ")
                .expect("a command and what comes of it")
        })
        .map(|(command, expected)| (command.to_owned(), expected.to_owned()))
        .collect()
}

#[cfg(unix)]
#[tokio::test]
async fn a_refused_command_says_so_and_the_script_goes_on() {
    let bench = Bench::new().await;
    let workspace = bench.workspace();
    fs::write(workspace.join("sub/in.txt"), "in\n").expect("a file");
    for (link, target) in [
        ("out", "../outside"),
        ("dangling", "../outside/new"),
        ("loop", "loop"),
    ] {
        std::os::unix::fs::symlink(target, workspace.join(link)).expect("a link");
    }
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    rustix::fs::mkfifoat(rustix::fs::CWD, workspace.join("fifo"), mode).expect("a pipe");
    let state = || {
        let names = |directory: &Path| {
            let entries = fs::read_dir(directory).expect("a directory");
            let mut names: Vec<_> = entries
                .map(|entry| entry.expect("an entry").file_name())
                .collect();
            names.sort();
            names
        };
        let kept = fs::read_to_string(workspace.join("kept.txt")).ok();
        let inside = (names(&workspace), names(&workspace.join("sub")), kept);
        (inside, names(&bench.place.path().join("outside")))
    };
    let before = state();
    let mut wrong = String::new();
    for (section, mode) in [("read-only", Mode::Plan), ("writable", Mode::Act)] {
        for (command, expected) in faults(section) {
            let script = format!("{command}; echo \"after $?\"");
            let answer = bench.run(mode, &script, 20).await;
            let printed = parts(&answer).0;
            let (said, after) = printed.rsplit_once("after ").unwrap_or_default();
            let said = said.trim_end();
            let is_said = match expected.split_once(" … ") {
                Some((name, why)) => {
                    said.starts_with(name) && said.ends_with(why) && !said.contains('\n')
                }
                None => said == expected,
            };
            if !is_said || !after.trim().parse().is_ok_and(|status: i32| status != 0) {
                wrong.push_str(&format!("{command} => {expected}\n{answer}\n"));
            }
            assert_eq!(state(), before, "{command}: {answer}");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    let rest = "cat kept.txt; ls sub; echo x > /tmp/f && cat /tmp/f";
    let answer = bench.run(Mode::Plan, rest, 20).await;
    assert_eq!(parts(&answer), ("kept\nin.txt\nx\n".to_owned(), 0));
}

#[cfg(unix)]
#[tokio::test]
async fn a_file_that_the_shell_changes_stays_the_same_file() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let bench = Bench::new().await;
    let mut wrong = String::new();
    for (command, expected) in faults("in-place") {
        let workspace = tempfile::tempdir().expect("a workspace");
        let file = workspace.path().join("run.sh");
        fs::write(workspace.path().join("kept.txt"), "kept\n").expect("a file");
        fs::write(&file, "k: 1\n").expect("a file");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).expect("a mode");
        let before = fs::metadata(&file).expect("the file");
        let answer = bench
            .run_in(workspace.path(), Mode::Act, &command, 20)
            .await;
        let after = fs::metadata(&file).expect("the file");
        let content = fs::read_to_string(&file).expect("the file");
        let is_same = (before.mode(), before.ino()) == (after.mode(), after.ino());
        if !is_same || content.split_whitespace().ne(expected.split_whitespace()) {
            let mode = after.mode();
            wrong.push_str(&format!(
                "{command} => {content}, mode {mode:o}\n{answer}\n"
            ));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[tokio::test]
async fn the_shell_writes_to_the_disk() {
    let bench = Bench::new().await;
    let command = "mkdir -p a/b && echo one > a/b/f && echo two >> a/b/f && cp a/b/f g && mv a h && \
                   ln -s g l && echo three >> l && rm kept.txt && rmdir sub && touch -d @1000000000 g; \
                   stat -c %Y g; cat l; [ -e kept.txt ] || echo gone";
    let answer = bench.run(Mode::Act, command, 20).await;
    assert_eq!(
        parts(&answer),
        ("1000000000\none\ntwo\nthree\ngone\n".to_owned(), 0)
    );
    let read = |path: &str| fs::read_to_string(bench.workspace().join(path)).ok();
    assert_eq!(read("h/b/f").as_deref(), Some("one\ntwo\n"));
    assert_eq!(read("g").as_deref(), Some("one\ntwo\nthree\n"));
    let link = fs::read_link(bench.workspace().join("l")).expect("a link");
    assert_eq!(link, Path::new("g"));
}

#[tokio::test]
async fn a_command_that_does_not_end_is_answered_at_its_time() {
    let bench = Bench::new().await;
    let endless = [
        "echo begun; while :; do :; done",
        "echo begun; sleep 1000",
        "echo begun; while true; do echo x; done",
        "echo begun; awk 'BEGIN { while (1) x++ }'",
        "echo begun; x=$(while :; do :; done)",
    ];
    for command in endless {
        let answer = bench.run(Mode::Act, command, 2).await;
        let start = answer.chars().take(300).collect::<String>();
        assert!(answer.starts_with("begun\n"), "{command}: {start}");
        // Were it ended by the host, there would be no answer.
        assert!(
            answer.contains("\n[timed out: ended after 2.0 s"),
            "{command}: {start}"
        );
    }
    for command in [
        "(while :; do echo x; done) & echo done",
        "sleep 1000 & echo done; exit 0",
    ] {
        let answer = bench.run(Mode::Act, command, 20).await;
        assert!(
            answer.starts_with("done\n[exit status 0, "),
            "{command}: {answer}"
        );
    }
}

#[tokio::test]
async fn deep_nesting_ends_in_an_answer() {
    let bench = Bench::new().await;
    let substitutions = "echo $(".repeat(30) + "echo deep" + &")".repeat(30);
    assert_eq!(
        parts(&bench.run(Mode::Act, &substitutions, 20).await).0,
        "deep\n"
    );
    let groups = "( ".repeat(30) + "echo deep" + &" )".repeat(30);
    assert_eq!(parts(&bench.run(Mode::Act, &groups, 20).await).0, "deep\n");
    for command in [
        "f() { f; }; f".to_owned(),
        "f() { x=$(f); }; f".into(),
        "f() { f | f; }; f".into(),
        "{ ".repeat(90) + "echo deep" + &"; }".repeat(90),
        "$(".repeat(500) + &")".repeat(500),
        "(".repeat(2_000),
        "echo $((".to_owned() + &"(".repeat(200) + "1" + &")".repeat(200) + "))",
        "awk 'BEGIN { print ".to_owned() + &"(".repeat(90) + "1" + &")".repeat(90) + " }'",
        "jq -n '".to_owned() + &"[".repeat(200) + &"]".repeat(200) + "'",
        "echo '".to_owned()
            + &"(".repeat(200)
            + &")".repeat(200)
            + "' | grep -E '"
            + &"(".repeat(200)
            + "a"
            + &")".repeat(200)
            + "'",
        "x=a; while :; do x=$x$x; done".into(),
    ] {
        let answer = bench.run(Mode::Act, &command, 10).await;
        let last = answer.lines().last().expect("a line");
        assert!(last.starts_with('['), "{command}: {last}");
    }
}
