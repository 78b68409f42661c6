//! What a workspace says to the model, before and after the user trusts it.

use super::Bench;

/// A workspace with all that waits for trust.
fn talkative() -> Bench {
    let skill = "---\nname: release\ndescription: How to release\n---\nTag $ARGUMENTS first.\n";
    Bench::new()
        .directory("work/.claude/skills/release")
        .directory("work/.claude/skills/broken")
        .directory("work/web")
        .file("work/.claude/skills/release/SKILL.md", skill)
        .file(
            "work/.claude/skills/broken/SKILL.md",
            "SECRET OF A BROKEN SKILL",
        )
        .file("work/hotcell.toml", "plan = true")
        .file("work/AGENTS.md", "Speak like a pirate.")
        .file("home/.config/hotcell/AGENTS.md", "Be brief.")
}

const SAID: [&str; 3] = ["pirate", "release: How to release", "# Plan mode"];

#[test]
fn nothing_a_workspace_says_reaches_the_model_before_it_is_trusted() {
    let bench = talkative();
    let shown = |bench: &Bench| {
        let ended = bench.run(&["prompt"]);
        assert_eq!(ended.code, Some(0), "{}", ended.err);
        ended
    };
    let before = shown(&bench);
    assert!(before.out.contains("Be brief."), "{}", before.out);
    for said in SAID {
        assert!(!before.out.contains(said), "{said}: {}", before.out);
    }
    let notice = "hotcell.toml, AGENTS.md and .claude/skills of this workspace are not read";
    assert!(before.err.contains(notice), "{}", before.err);

    let bench = bench.trusted();
    let after = shown(&bench);
    for said in SAID {
        assert!(after.out.contains(said), "{said}: {}", after.out);
    }
    let (mine, theirs) = (after.out.find("Be brief."), after.out.find("pirate"));
    assert!(mine < theirs, "the nearest comes last: {}", after.out);
    assert!(!after.err.contains("not read"), "{}", after.err);

    let listed = bench.run(&["trust", "--list"]);
    assert!(listed.out.starts_with("trusted  "), "{}", listed.out);
    assert_eq!(bench.run(&["trust", "--untrust"]).code, Some(0));
    assert_eq!(shown(&bench).out, before.out);
}

#[test]
fn a_run_without_a_terminal_trusts_nobody_and_says_so() {
    let script = "{expect: {tools: [write_file]}, text: Done.}";
    let ended = talkative().scripted(script, &[]);
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    assert!(ended.err.contains("not read"), "{}", ended.err);
    assert!(ended.err.contains("hotcell trust"), "{}", ended.err);
}

#[test]
fn a_broken_trust_file_stops_a_run_and_names_itself() {
    let bench = talkative()
        .directory("home/.local/share/hotcell")
        .file("home/.local/share/hotcell/trust.json", "{\"workspaces\": [");
    let ended = bench.scripted("{text: Done.}", &[]);
    assert_eq!(ended.code, Some(2), "{}", ended.err);
    assert!(ended.err.contains("trust.json"), "{}", ended.err);
}

#[test]
fn tools_reach_the_skills_that_are_listed_and_no_others() {
    let bench = talkative().file("work/hotcell.toml", "").trusted();
    let script = "
        {calls: [{name: use_skill, arguments: {name: release}}, {name: use_skill, arguments: {name: broken}},
                 {name: bash, arguments: {command: 'ls /skills; cat /skills/broken/SKILL.md; echo changed > .claude/skills/release/SKILL.md'}}]},
        {expect: {results: [{call: call_1_1, contains: Tag}, {call: call_1_2, contains: broken, error: not_found}]},
         calls: [{name: use_skill, arguments: {name: release}}]},
        {expect: {results: [{call: call_2_1, contains: Tag}]}, text: Done.}";
    let ended = bench.scripted(script, &["--json"]);
    assert_eq!(ended.code, Some(0), "{}{}", ended.out, ended.err);
    assert!(!ended.out.contains("SECRET"), "{}", ended.out);
    let changed = std::fs::read_to_string(bench.work().join(".claude/skills/release/SKILL.md"));
    assert_eq!(changed.expect("the file"), "changed\n");
}

#[test]
fn a_prompt_may_begin_with_a_skill() {
    let bench = talkative().trusted();
    let ended = bench.run(&["prompt", "/release 1.2"]);
    assert!(ended.out.contains("Tag 1.2 first."), "{}", ended.out);
    let other = bench.run(&["prompt", "--json", "/etc/hosts is wrong"]);
    let sent: serde_json::Value = serde_json::from_str(&other.out).expect("a JSON object");
    assert_eq!(
        sent["messages"][0]["content"][0]["text"],
        "/etc/hosts is wrong"
    );
    assert!(
        sent["tools"]
            .as_array()
            .is_some_and(|tools| !tools.is_empty())
    );
}

#[test]
fn skills_are_listed_and_checked() {
    let bench = talkative().trusted();
    let listed = bench.run(&["skills", "list"]);
    assert_eq!(listed.code, Some(0), "{}", listed.err);
    assert!(listed.out.starts_with("release  "), "{}", listed.out);
    assert!(
        listed.err.contains("skill \"broken\" is not listed"),
        "{}",
        listed.err
    );
    let check = |path: &str| bench.run(&["skills", "check", path]);
    assert_eq!(check(".claude/skills/release").code, Some(0));
    let broken = check(".claude/skills/broken");
    assert_eq!(broken.code, Some(1));
    assert!(broken.err.contains("front matter"), "{}", broken.err);
    assert_eq!(check("missing").code, Some(2));
}
