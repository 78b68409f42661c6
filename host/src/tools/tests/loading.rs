//! What may be in a toolbox, and what its errors say.

use super::*;

async fn load(builtins: &[Builtin], plugins: &[PathBuf]) -> Result<Toolbox, String> {
    Toolbox::load(&sandbox(), builtins, plugins)
        .await
        .map_err(|error| error.to_string())
}

/// A file with these bytes, in a directory that goes with the first answer.
fn file(bytes: &[u8]) -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().join("plugin.wasm");
    std::fs::write(&path, bytes).expect("the file");
    (directory, path)
}

#[tokio::test]
async fn every_built_in_component_is_what_its_definitions_say() {
    let toolbox = load(BUILTINS, &[]).await.expect("the built-in tools");
    toolbox.prepare();
    let faults: Vec<String> = toolbox
        .verify()
        .await
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(faults, Vec::<String>::new());
    for tool in toolbox.list() {
        assert!(matches!(tool.source, Source::BuiltIn(_)));
        assert_eq!(tool.digest.0.len(), 64);
    }
}

#[tokio::test]
async fn a_model_sees_no_path_mark_and_the_tools_in_the_order_of_their_names() {
    let toolbox = load(BUILTINS, &[]).await.expect("the built-in tools");
    let offered = toolbox.offered(&policy(Path::new("/"), Mode::Act));
    let names: Vec<&str> = offered.iter().map(|tool| tool.name.as_str()).collect();
    assert!(
        names.is_sorted() && names.contains(&"edit_file"),
        "{names:?}"
    );
    for tool in offered.iter() {
        let schema = tool.input_schema.to_string();
        assert!(!schema.contains("x-hotcell-path"), "{schema}");
    }
    let marked = toolbox
        .list()
        .iter()
        .filter(|tool| {
            tool.definition
                .input_schema
                .to_string()
                .contains("x-hotcell-path")
        })
        .count();
    assert!(marked >= 3, "the host sees the marks of {marked} tools");
}

#[tokio::test]
async fn a_plugin_cannot_stand_in_for_a_built_in_tool() {
    let (_directory, path) = file(builtin("todo").wasm);
    let error = load(&[builtin("todo")], std::slice::from_ref(&path))
        .await
        .err()
        .expect("refused");
    let shown = path.display();
    assert!(
        error.starts_with(&format!(
            "tool `todo_write` is in built-in `todo` and in plugin {shown}"
        )),
        "{error}"
    );

    let toolbox = load(&[], &[path]).await.expect("alone it is fine");
    assert!(matches!(toolbox.list()[0].source, Source::Plugin(_)));
}

#[tokio::test]
async fn a_component_that_describes_something_else_never_runs() {
    let swapped = Builtin {
        definitions: builtin("skill").definitions,
        ..builtin("todo")
    };
    let reworded = Builtin {
        definitions: builtin("todo")
            .definitions
            .replacen("Keeps the plan", "Runs the plan", 1)
            .leak(),
        ..builtin("todo")
    };
    for (builtin, tool) in [(swapped, "use_skill"), (reworded, "todo_write")] {
        let toolbox = load(&[builtin], &[]).await.expect("not compiled yet");
        let faults = toolbox.verify().await;
        assert!(
            matches!(faults[..], [ToolboxError::Mismatch { .. }]),
            "{faults:?}"
        );
        let mut policy = policy(Path::new("/"), Mode::Act);
        policy.allowed = Capabilities::ALL;
        let arguments = json!({"todos": [], "name": "a"});
        let fitting = match tool {
            "use_skill" => json!({"name": arguments["name"]}),
            _ => json!({"todos": arguments["todos"]}),
        };
        let result = call(&toolbox, &policy, tool, fitting).await;
        assert_eq!(result.error, Some(ToolErrorKind::Failed));
        assert!(
            result.text().contains("describes itself otherwise"),
            "{}",
            result.text()
        );
    }
}

#[tokio::test]
async fn what_is_no_component_is_refused_and_named() {
    let whole = builtin("todo").wasm;
    let directory = tempfile::tempdir().expect("a temporary directory");
    for (path, reason) in [
        (directory.path().to_owned(), "it is not a regular file"),
        (directory.path().join("gone.wasm"), ""),
    ] {
        let error = load(&[], std::slice::from_ref(&path))
            .await
            .err()
            .expect("refused");
        let begin = format!("cannot read plugin {}: {reason}", path.display());
        assert!(error.starts_with(&begin), "{error}");
    }
    for bytes in [
        &b""[..],
        b"#!/bin/sh\n",
        &whole[..whole.len() / 2],
        b"\0asm\x01\0\0\0",
    ] {
        let (_directory, path) = file(bytes);
        let error = load(&[], std::slice::from_ref(&path))
            .await
            .err()
            .expect("refused");
        assert!(
            error.starts_with(&format!("cannot load plugin {}: ", path.display())),
            "{error}"
        );
    }
    let broken = Builtin {
        definitions: "[{]",
        ..builtin("todo")
    };
    let error = load(&[broken], &[]).await.err().expect("refused");
    assert!(error.contains("built-in `todo`"), "{error}");
}
