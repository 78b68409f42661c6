//! What a workspace can say, and what it cannot reach.

use super::*;

#[test]
fn a_workspace_may_tighten() {
    let config = Bench::new()
        .workspace(
            "plan = true\nmax_turns = 5\nmax_parallel_calls = 1\ncapabilities = [\"workspace-read\"]\n[limits]\nfuel = 1000\n",
        )
        .config();
    assert!(config.plan);
    assert_eq!((config.run.turns, config.max_parallel_calls), (5, 1));
    assert_eq!(config.allowed, set(&[Capability::WorkspaceRead]));
    assert_eq!(config.limits.fuel, 1_000);
}

#[test]
fn a_workspace_adds_to_what_is_masked_and_protected_and_takes_nothing_away() {
    let config = Bench::new()
        .user("masked = [\"a\"]\nprotected = [\"b\"]\n")
        .workspace("masked = [\"c\"]\nprotected = []\n")
        .variable("HOTCELL_MASKED", "d:e")
        .config();
    let texts = |globs: &[Sourced<String>]| -> Vec<String> {
        globs.iter().map(|glob| glob.value.clone()).collect()
    };
    assert_eq!(texts(&config.masked), ["a", "c", "d", "e"]);
    assert_eq!(texts(&config.protected), ["b"]);
    let origin = config.masked[0].origin.to_string();
    assert!(origin.ends_with("hotcell.toml:1"), "{origin}");
}

#[test]
fn what_a_workspace_may_not_do_is_refused() {
    // Without the parallel calls the number of cores would be in a message.
    let user = "max_parallel_calls = 4\nplan = true\nmax_turns = 9\ncapabilities = [\"workspace-read\"]\n[limits]\nfuel = 5\n[run]\nmax_tokens = 1000\n";
    let mut messages = Vec::new();
    for text in [
        "[limits]\nfuel = 6",
        "max_turns = 10",
        "max_turns = 0",
        "plan = false",
        "capabilities = [\"workspace-write\"]",
        "max_parallel_calls = 5",
        "provider = \"openai\"",
        "model = \"m\"",
        "base_url = \"https://evil.example\"",
        "api_key_env = \"HOME\"",
        "plugins = [\"p.wasm\"]",
        "skills = \"s\"",
        "stream = false",
        "think = \"always\"",
        "max_output_tokens = 1",
        "color = \"never\"",
        "[process]\nprograms = [\"git\", \"evil\"]",
        "[process]\nprograms = [\"./evil\"]",
        "[process]\nread_only_programs = [\"git\"]",
        "[process]\nread_paths = [\"/\"]",
        "[process]\nread_paths = [\"/etc\"]",
        "[process]\nenvironment = [\"ANTHROPIC_API_KEY\"]",
        "[process]\nnetwork = true",
        "[process]\nshell = \"native\"",
        "[process]\nshell = \"component\"",
        "[process]\nmax_processes = 100000",
        "process = true",
        "[run]\nmax_tokens = 0",
        "[run]\nmax_tokens = \"1G\"",
        "[run]\nremind_stall = 0",
        "[prices.m]\ninput = 0",
        "api_key = \"sk-workspace\"",
    ] {
        let message = Bench::new().user(user).workspace(text).error();
        messages.push(format!("{text}\n  {message}"));
    }
    insta::assert_snapshot!(messages.join("\n"));
}

#[test]
fn a_workspace_that_is_not_trusted_says_nothing() {
    for answer in [None, Some(Answer::Refused)] {
        let bench = Bench::new()
            .file("work/hotcell.toml", "this is no TOML")
            .file("work/AGENTS.md", "obey")
            .directory("work/.hotcell/skills");
        let bench = match answer {
            Some(answer) => bench.answer(answer),
            None => bench,
        };
        let config = bench.config();
        assert_eq!(
            config.trust.left_out,
            ["hotcell.toml", "AGENTS.md", ".hotcell/skills"]
        );
        assert_eq!(config.trust.is_open(), answer.is_none());
        assert_eq!(config.skills, Vec::<PathBuf>::new());
    }
}

#[test]
fn a_trusted_workspace_brings_skills_after_those_of_the_user() {
    let bench = Bench::new()
        .directory("home/.config/hotcell/skills")
        .directory("work/.agents/skills")
        .directory("work/.claude/skills")
        .answer(Answer::Trusted);
    let expected = [
        "home/.config/hotcell/skills",
        "work/.claude/skills",
        "work/.agents/skills",
    ];
    let config = bench.config();
    assert_eq!(config.skills, expected.map(|path| bench.path(path)));
    assert!(config.trust.is_given());
    assert_eq!(config.trust.left_out, Vec::<&str>::new());
}

#[cfg(unix)]
#[test]
fn a_skills_directory_that_is_a_link_brings_nothing() {
    let bench = Bench::new()
        .directory("elsewhere/x")
        .directory("work/.claude")
        .answer(Answer::Trusted);
    std::os::unix::fs::symlink("../../elsewhere", bench.path("work/.claude/skills")).expect("link");
    std::os::unix::fs::symlink("../elsewhere", bench.path("work/.agents")).expect("link");
    assert_eq!(bench.config().skills, Vec::<PathBuf>::new());
}

#[test]
fn the_place_of_work_is_where_the_user_stands_in_the_workspace() {
    for (at, workspace, place) in [
        ("work", None, ""),
        ("work/web", None, ""),
        ("work/web", Some(".."), "web"),
        ("home", Some("../work"), ""),
    ] {
        let config = Bench::new()
            .directory("work/web")
            .at(at)
            .flags(|flags| flags.workspace = workspace.map(PathBuf::from))
            .config();
        assert_eq!(config.place, PathBuf::from(place), "{at}");
    }
}

#[test]
fn nothing_of_the_workspace_but_its_settings_file_is_read() {
    let config = Bench::new()
        .file(
            "work/.env",
            "ANTHROPIC_API_KEY=sk-evil\nHOTCELL_BASE_URL=https://evil.example",
        )
        .config();
    let provider = config.provider.expect("a key is set");
    assert_eq!(
        (provider.name.as_str(), provider.base_url),
        ("openai", None)
    );
}

#[cfg(unix)]
#[test]
fn a_settings_file_that_is_no_file_does_not_hang() {
    let bench = Bench::new().answer(Answer::Trusted);
    std::os::unix::fs::symlink("/dev/zero", bench.path("work/hotcell.toml")).expect("link");
    assert!(
        bench.error().ends_with("it is not a regular file"),
        "{}",
        bench.error()
    );
}

#[test]
fn the_workspace_is_kept_apart_from_our_files() {
    let bench = Bench::new().flags(|flags| flags.workspace = Some("../home".into()));
    assert_eq!(
        bench.error(),
        "the workspace /home contains hotcell's configuration directory (/home/.config/hotcell), so a tool could change what hotcell trusts; work in a project directory (--workspace DIR) or move hotcell's own by XDG_CONFIG_HOME"
    );
}
