//! Plan mode: whatever the model tries, nothing changes.

use crate::model_server::Reply;
use crate::stage::{BOTH, LANES, Stage};
use serde_json::json;

#[test]
fn tools_that_write_are_neither_offered_nor_run() {
    for lane in LANES {
        let stage = Stage::new(lane)
            .file("kept", "as it was\n")
            .flags(["--plan"]);
        let before = stage.tree();
        stage
            .server
            .reply(Reply::call("r", "read_file", &json!({"path": "kept"})))
            .reply(
                Reply::call("a", "write_file", &json!({"path": "new", "content": "x"}))
                    .and_call("b", "write_file", &json!({"path": "kept", "content": "x"}))
                    .and_call(
                        "c",
                        "edit_file",
                        &json!({"path": "kept", "old": "was", "new": "is"}),
                    ),
            )
            .reply(Reply::text("1. Change `kept`."));
        let told = stage.run("change it");
        assert_eq!(told.completed(), "1. Change `kept`.");
        assert_eq!(stage.tree(), before);

        let [first, _, last] = stage.asked_times();
        let tools = first.tools();
        for (name, offered) in [
            ("read_file", true),
            ("grep", true),
            ("bash", true),
            ("write_file", false),
            ("edit_file", false),
        ] {
            assert_eq!(tools.contains_key(name), offered, "{name}");
        }
        for (result, id) in last.returned_times::<3>().iter().zip(["a", "b", "c"]) {
            assert_eq!(result.id, id);
            result.refuses("denied", "plan mode");
            assert_eq!(told.result(id)["error"], "denied");
        }
    }
}

/// opencode#19094, #25335, #28467
#[test]
fn the_shell_gets_a_read_only_file_system_and_goes_on() {
    let commands = [
        "cat > f <<< x",
        "echo x >> kept",
        "echo x | tee f",
        "sed -i s/was/is/ kept",
        "cp kept f",
        "mv kept f",
        "rm kept",
        "touch f",
        "mkdir d",
        "ln -s kept f",
        "truncate -s 0 kept",
        "dd if=kept of=f",
        "sort -o kept kept",
        "install kept f",
        "tar cf a.tar kept",
        "gzip kept",
        "split kept",
    ];
    for lane in BOTH {
        let stage = Stage::new(lane)
            .file("kept", "as it was\n")
            .flags(["--plan"]);
        let before = stage.tree();
        let mut calls = Reply::empty();
        for (number, command) in commands.iter().enumerate() {
            let script = format!("{command}\necho \"then $?\"\ncat kept");
            calls = calls.and_call(&number.to_string(), "bash", &json!({"command": script}));
        }
        stage.server.reply(calls).reply(Reply::text("No way."));
        stage.run("change it").completed();
        assert_eq!(stage.tree(), before);

        let [_, request] = stage.asked_times();
        let results = request.returned_times::<17>();
        for (command, result) in commands.iter().zip(&results) {
            let has = |part: &str| result.text.contains(part);
            assert!(
                !result.failed
                    && has("Read-only file system")
                    && has("\nthen ")
                    && !has("\nthen 0\n")
                    && has("\nas it was\n[exit status 0"),
                "{command}: {result:#?}"
            );
        }
    }
}

#[test]
fn the_prompt_says_what_the_mode_of_the_run_allows() {
    for lane in BOTH {
        for (flags, plan, write) in [(&[][..], false, true), (&["--plan"], true, false)] {
            let stage = Stage::new(lane).flags(flags);
            stage.server.reply(Reply::text("Hello."));
            stage.run("hello").completed();
            let [request] = stage.asked_times();
            let system = request.system();
            let place = stage.path("").canonicalize().expect("the workspace");
            let place = format!("- Workspace: {}", place.display());
            assert!(system.contains(place.trim_end_matches('/')), "{system}");
            assert_eq!(system.contains("# Plan mode"), plan, "{system}");
            let may = if write { "yes" } else { "no" };
            let line = format!("- {may}: create, change and remove files of the workspace");
            assert!(system.contains(&line), "{system}");
        }
    }
}
