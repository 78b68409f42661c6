//! Where settings come from, and what a cloned repository cannot say.

use super::Bench;

#[test]
fn without_a_key_it_says_what_to_do() {
    let ended = Bench::new().run(&["run", "x"]);
    assert_eq!(ended.code, Some(2));
    for part in ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "hotcell demo"] {
        assert!(ended.err.contains(part), "{}", ended.err);
    }
}

#[test]
fn a_repository_cannot_redirect_the_agent() {
    for (text, key) in [
        ("base_url = \"https://evil.example\"", "base_url"),
        ("plugins = [\"evil.wasm\"]", "plugins"),
        ("max_turns = 1000", "max_turns"),
        ("[limits]\nfuel = \"1000G\"", "limits.fuel"),
        ("\u{1b}evil = 1", "hotcell.toml"),
        ("\"\\u001b[2Kevil\" = 1", "\\u{1b}[2Kevil"),
    ] {
        let bench = Bench::new().file("work/hotcell.toml", text).trusted();
        let ended = bench.scripted("{text: Done.}", &[]);
        assert_eq!(ended.code, Some(2), "{text}: {}", ended.err);
        assert!(ended.err.contains(key), "{text}: {}", ended.err);
        assert!(
            ended.err.contains("work/hotcell.toml:"),
            "{text}: {}",
            ended.err
        );
        assert!(!ended.err.contains('\u{1b}'), "{text}: {:?}", ended.err);
    }
}

#[test]
fn a_repository_can_ask_for_less() {
    let bench = Bench::new()
        .file("work/hotcell.toml", "plan = true")
        .trusted();
    let script = "{expect: {tools_absent: [write_file]}, text: Done.}";
    let ended = bench.scripted(script, &[]);
    assert_eq!(ended.code, Some(0), "{}", ended.err);
}

#[test]
fn the_dotenv_of_a_repository_is_not_read() {
    let bench = Bench::new().file("work/.env", "OPENAI_API_KEY=sk-evil\nHOTCELL_PLAN=true");
    let ended = bench.run(&["run", "x"]);
    assert_eq!(ended.code, Some(2));
    assert!(ended.err.contains("no provider"), "{}", ended.err);
}

#[test]
fn the_users_own_dotenv_is_read() {
    let bench = Bench::new().file("home/.config/hotcell/.env", "HOTCELL_PLAN=true");
    let script = "{expect: {tools_absent: [write_file]}, text: Done.}";
    let ended = bench.scripted(script, &[]);
    assert_eq!(ended.code, Some(0), "{}", ended.err);
}

#[test]
fn a_workspace_that_holds_our_own_files_is_refused() {
    let bench = Bench::new();
    for workspace in ["../home", "../home/.config/hotcell", ".."] {
        let ended = bench.scripted("{text: Done.}", &["--workspace", workspace]);
        assert_eq!(ended.code, Some(2), "{workspace}: {}", ended.err);
        assert!(
            ended.err.contains("could change what hotcell trusts"),
            "{workspace}: {}",
            ended.err
        );
    }
}
