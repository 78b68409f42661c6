//! One call after the other, from its name to its result.

use super::*;

struct Bench {
    toolbox: Toolbox,
    workspace: tempfile::TempDir,
}

impl Bench {
    async fn new() -> Bench {
        let workspace = tempfile::tempdir().expect("a workspace");
        std::fs::write(workspace.path().join("a.txt"), "one\ntwo\n").expect("a file");
        let toolbox = Toolbox::load(&sandbox(), &[builtin("files"), builtin("todo")], &[])
            .await
            .expect("the built-in tools");
        Bench { toolbox, workspace }
    }

    async fn call(&self, mode: Mode, name: &str, arguments: Value) -> ToolResult {
        let policy = policy(self.workspace.path(), mode);
        call(&self.toolbox, &policy, name, arguments).await
    }

    fn holds(&self, file: &str) -> Option<String> {
        std::fs::read_to_string(self.workspace.path().join(file)).ok()
    }
}

#[tokio::test]
async fn a_call_that_passes_every_check_runs_and_is_measured() {
    let bench = Bench::new().await;
    let read = bench
        .call(
            Mode::Act,
            "read_file",
            json!({"path": "a.txt", "limit": "1"}),
        )
        .await;
    assert_eq!(read.error, None, "{}", read.text());
    assert!(read.text().contains("one") && !read.text().contains("two"));
    assert!(read.stats.fuel > 0 && read.stats.duration_us > 0);
    let write = bench
        .call(
            Mode::Act,
            "write_file",
            json!({"path": "b/c.txt", "content": "new"}),
        )
        .await;
    assert_eq!(write.error, None, "{}", write.text());
    assert_eq!(bench.holds("b/c.txt").as_deref(), Some("new"));
}

#[tokio::test]
async fn a_call_that_cannot_run_says_what_to_do_next() {
    let bench = Bench::new().await;
    let cases = [
        (
            Mode::Act,
            "Read-File",
            json!({}),
            ToolErrorKind::UnknownTool,
            "did you mean `read_file`",
        ),
        (
            Mode::Act,
            "zzz",
            json!({}),
            ToolErrorKind::UnknownTool,
            "the tools are `edit_file`, `read_file`, `todo_write`, `write_file`",
        ),
        // What plan mode does not offer it does not suggest either.
        (
            Mode::Plan,
            "writefile",
            json!({}),
            ToolErrorKind::UnknownTool,
            "`todo_write`",
        ),
        (
            Mode::Plan,
            "write_file",
            json!({"path": "b.txt", "content": "new"}),
            ToolErrorKind::Denied,
            "plan mode gives tools read-only capabilities",
        ),
        (
            Mode::Act,
            "read_file",
            json!({"pth": "a.txt"}),
            ToolErrorKind::InvalidArguments,
            "`path`: missing",
        ),
        (
            Mode::Act,
            "read_file",
            json!({"path": "gone.txt"}),
            ToolErrorKind::NotFound,
            "not_found: ",
        ),
        (
            Mode::Act,
            "read_file",
            json!({"path": "../../etc/passwd"}),
            ToolErrorKind::Denied,
            "denied: ",
        ),
    ];
    for (mode, name, arguments, kind, words) in cases {
        let result = bench.call(mode, name, arguments).await;
        assert_eq!(result.error, Some(kind), "{name}: {}", result.text());
        assert!(result.text().starts_with(kind.name()), "{}", result.text());
        assert!(result.text().contains(words), "{}", result.text());
    }
    assert_eq!(bench.holds("b.txt"), None);
}

#[tokio::test]
async fn arguments_that_are_no_object_are_quoted_back() {
    let bench = Bench::new().await;
    let call = ToolCall {
        id: "1".into(),
        name: "read_file".into(),
        arguments: json!({}),
        malformed: Some("{\"path\": \"a.t".into()),
    };
    let policy = policy(bench.workspace.path(), Mode::Act);
    let result = bench
        .toolbox
        .call(&policy, "session", &call, Arc::new(Nobody))
        .await;
    assert_eq!(result.error, Some(ToolErrorKind::InvalidArguments));
    assert!(
        result.text().contains("{\"path\": \"a.t"),
        "{}",
        result.text()
    );
}

#[tokio::test]
async fn a_call_waits_for_the_paths_of_the_one_before() {
    let bench = Bench::new().await;
    let policy = policy(bench.workspace.path(), Mode::Act);
    let admit = |name: &str, arguments: Value| {
        let call = ToolCall {
            id: "1".into(),
            name: name.into(),
            arguments,
            malformed: None,
        };
        bench.toolbox.admit(&policy, &call).expect("admitted")
    };
    let write = admit("write_file", json!({"path": "new.txt", "content": "fresh"}));
    let read = admit("read_file", json!({"path": "./new.txt"}));
    let other = admit("read_file", json!({"path": "a.txt"}));

    let reading = tokio::spawn(async move { read.run("session", Arc::new(Nobody)).await });
    // The other path is free, and the reader still waits when this is done.
    assert_eq!(other.run("session", Arc::new(Nobody)).await.error, None);
    assert!(!reading.is_finished());
    assert_eq!(write.run("session", Arc::new(Nobody)).await.error, None);
    let read = reading.await.expect("the reader goes on");
    assert!(read.text().contains("fresh"), "{}", read.text());
}
