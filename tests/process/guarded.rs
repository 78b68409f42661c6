//! Masked and protected paths, and repositories that bring code.

use crate::support::{Stage, command, digests};
use std::os::unix::fs::symlink;

const MASKED: &str = "API_KEY=very-secret";

fn stage() -> Option<Stage> {
    let stage = Stage::new()?;
    stage.file("ws/.env", MASKED);
    stage.file("ws/.env.example", "API_KEY=");
    stage.file("ws/deep/down/server.pem", MASKED);
    stage.file("ws/.ssh/id_ed25519", MASKED);
    stage.file("ws/.git/config", "[core]\n\tbare = false\n");
    stage.file("ws/.git/hooks/post-commit.sample", "");
    stage.file("ws/vendor/sub/.git/config", "[core]\n");
    stage.file("ws/.bashrc", "# mine\n");
    stage.file("ws/.vscode/tasks.json", "{}");
    Some(stage)
}

#[tokio::test]
async fn masked_paths_are_empty_and_stay_as_they_are() {
    let Some(stage) = stage() else {
        return;
    };
    let before = digests(&stage.workspace());
    for tried in [
        "cat .env",
        "cat /workspace/.env",
        &format!("cat {}/.env", stage.workspace().display()),
        "cat deep/down/server.pem",
        "cd deep && cat down/server.pem",
        "mv deep/down deep/up && cat deep/up/server.pem; mv deep/up deep/down",
        "cat .ssh/id_ed25519",
        "ls .ssh",
        "ln .env other && cat other",
        "cp .env copy; cat copy; rm -f copy",
        "ln -s .env soft; cat soft; rm -f soft",
        "echo x > .env",
        "echo x >> deep/down/server.pem",
        "rm -f .env",
        "mv .env elsewhere && cat elsewhere",
        "rm -rf .ssh",
        "echo x > .ssh/new",
        "cat /proc/self/cwd/.env",
        "umount .env && cat .env",
        "tar cf - . | strings",
        "grep -r very-secret .",
    ] {
        let told = stage.sh(tried).await;
        assert!(!told.stdout.contains("very-secret"), "{tried}: {told:?}");
        assert!(!told.stdout.contains("id_ed25519"), "{tried}: {told:?}");
        assert_eq!(digests(&stage.workspace()), before, "{tried}");
    }
    let told = stage.sh("cat .env.example").await;
    assert_eq!(told.stdout, "API_KEY=");
}

#[tokio::test]
async fn protected_paths_can_be_read_and_not_changed() {
    let Some(stage) = stage() else {
        return;
    };
    let before = digests(&stage.workspace());
    for tried in [
        "echo x >> .git/config",
        "echo x > .git/config.new && mv .git/config.new .git/config; rm -f .git/config.new",
        "rm -f .git/config",
        "rm -rf .git/hooks",
        "echo x > .git/hooks/pre-commit",
        "cd .git && echo x > hooks/pre-commit",
        "mv .git/hooks .git/other",
        "mv .git elsewhere",
        "echo x >> .bashrc",
        "echo x > .vscode/tasks.json",
        "mv .vscode .vscode2",
        "echo x >> vendor/sub/.git/config",
        "chmod +x .git/hooks/post-commit.sample",
        "touch -d 2001-01-01 .git/config",
        "ln .git/config alias && echo x >> alias",
        "git config core.fsmonitor ./evil",
        "git -C vendor/sub config core.fsmonitor ./evil",
    ] {
        let told = stage.sh(tried).await;
        assert_eq!(digests(&stage.workspace()), before, "{tried}: {told:?}");
    }
    let told = stage.sh("cat .git/config .bashrc").await;
    assert_eq!(told.stdout, "[core]\n\tbare = false\n# mine\n");
}

/// As a submodule or a work tree has it.
#[tokio::test]
async fn a_git_file_or_link_that_is_there_keeps_what_it_names() {
    let Some(stage) = Stage::new() else {
        return;
    };
    stage.file("ws/sub/.git", "gitdir: ../.git/modules/sub\n");
    stage.file("ws/real/HEAD", "ref: refs/heads/main\n");
    symlink("../real", stage.workspace().join("linked.git")).expect("a link");
    std::fs::create_dir(stage.workspace().join("linked")).expect("a directory");
    symlink("../real", stage.workspace().join("linked/.git")).expect("a link");
    let before = digests(&stage.workspace());
    for tried in [
        "echo 'gitdir: ../evil' > sub/.git",
        "rm -f sub/.git",
        "echo 'gitdir: ../evil' > x && mv x sub/.git; rm -f x",
        "ln -sfn ../evil linked/.git",
        "rm linked/.git && echo 'gitdir: ../evil' > linked/.git",
    ] {
        let told = stage.sh(tried).await;
        assert_eq!(digests(&stage.workspace()), before, "{tried}: {told:?}");
        let link = std::fs::read_link(stage.workspace().join("linked/.git"));
        assert_eq!(
            link.expect("a link"),
            std::path::Path::new("../real"),
            "{tried}"
        );
    }
}

#[tokio::test]
async fn what_is_made_although_it_is_protected_is_removed_and_told() {
    for (tried, removed) in [
        (
            "mkdir -p new/.git/hooks && echo evil > new/.git/hooks/pre-commit",
            "new/.git/hooks",
        ),
        ("echo evil > .bashrc", ".bashrc"),
        ("echo evil > .BashRC", ".BashRC"),
        ("ln -s /tmp/evil .profile", ".profile"),
        ("mkdir -p a && echo x > a/.env", "a/.env"),
        (
            "mkdir -p b/hooks && echo x > b/hooks/pre-commit && mv b .git",
            ".git/hooks",
        ),
        ("mkdir -p .hotcell && echo x > .hotcell/skill", ".hotcell"),
        ("(sleep 0.2; echo evil > .zshrc) & wait", ".zshrc"),
        // What a `.git` that is no directory names would be the repository.
        ("echo 'gitdir: evil' > .git", ".git"),
        ("ln -s evil .git", ".git"),
        ("mkdir sub && echo 'gitdir: ../evil' > sub/.git", "sub/.git"),
        ("mkdir sub && ln -s ../evil sub/.git", "sub/.git"),
    ] {
        let Some(stage) = Stage::new() else {
            return;
        };
        let told = stage.sh(tried).await;
        assert!(
            stage.path("ws").join(removed).symlink_metadata().is_err(),
            "{tried}"
        );
        let notes = told.ended.notes.join("\n");
        assert!(notes.contains(&format!("`{removed}`")), "{tried}: {notes}");
        assert!(notes.contains("was removed"), "{tried}: {notes}");
    }
}

#[tokio::test]
async fn a_directory_that_was_closed_stays_closed() {
    use std::fs::{Permissions, set_permissions};
    use std::os::unix::fs::PermissionsExt;
    let Some(stage) = Stage::new() else {
        return;
    };
    stage.file("ws/closed/.env", MASKED);
    for mode in [0o000, 0o444, 0o111] {
        set_permissions(stage.path("ws/closed"), Permissions::from_mode(mode)).expect("mode");
        let told = stage
            .sh("chmod 755 closed; cat closed/.env; ls -a closed; true")
            .await;
        assert!(!told.stdout.contains("very-secret"), "{mode:o}: {told:?}");
    }
    set_permissions(stage.path("ws/closed"), Permissions::from_mode(0o755)).expect("mode");
}

#[tokio::test]
async fn a_protected_link_is_put_back() {
    for tried in [
        "rm .bashrc; echo evil > .bashrc",
        "ln -sf /tmp/evil .bashrc",
        "rm .bashrc",
        "rm .bashrc; mkdir .bashrc; echo evil > .bashrc/x",
        "mv hello.txt .bashrc",
    ] {
        let Some(stage) = Stage::new() else {
            return;
        };
        symlink("profiles/mine", stage.path("ws/.bashrc")).expect("link");
        let told = stage.sh(tried).await;
        let target = std::fs::read_link(stage.path("ws/.bashrc"));
        assert_eq!(
            target.ok(),
            Some("profiles/mine".into()),
            "{tried}: {told:?}"
        );
        let notes = told.ended.notes.join("\n");
        assert!(notes.contains("it is a link again"), "{tried}: {notes}");
    }
}

#[tokio::test]
async fn what_is_removed_is_never_outside() {
    let Some(stage) = Stage::new() else {
        return;
    };
    let before = stage.outside();
    symlink(stage.path("outside"), stage.path("ws/link")).expect("link");
    let told = stage
        .sh("ln -s ../outside .git; ln -s link/deep .hotcell; ln -s link x; true")
        .await;
    assert!(told.succeeded(), "{told:?}");
    assert_eq!(stage.outside(), before);
}

#[tokio::test]
async fn other_work_in_a_repository_goes_on() {
    let Some(stage) = Stage::new() else {
        return;
    };
    let git = |arguments: &[&str]| {
        std::process::Command::new("git")
            .args(arguments)
            .current_dir(stage.workspace())
            .output()
            .expect("git is installed")
    };
    git(&["init", "-q", "."]);
    let told = stage
        .sh("git add hello.txt && git -c user.name=a -c user.email=b@c commit -qm first && git log --format=%s && git checkout -qb side && git status --short")
        .await;
    assert_eq!(told.stdout, "first\n", "{told:?}");
    assert_eq!(told.ended.notes, [""; 0]);
}

#[tokio::test]
async fn a_repository_does_not_run_code_through_git() {
    let Some(stage) = Stage::new() else {
        return;
    };
    let run = |arguments: &[&str]| {
        let done = std::process::Command::new("git")
            .args(arguments)
            .current_dir(stage.workspace())
            .output()
            .expect("git is installed");
        assert!(done.status.success(), "{done:?}");
    };
    run(&["init", "-q", "."]);
    let evil = stage.executable("ws/evil", "#!/bin/sh\necho evil >> /workspace/ran\n");
    let evil = evil.display().to_string();
    for key in [
        "core.fsmonitor",
        "core.editor",
        "core.pager",
        "core.sshCommand",
        "gpg.program",
    ] {
        run(&["config", key, &evil]);
    }
    run(&["config", "core.hooksPath", "hooks"]);
    run(&["config", "commit.gpgSign", "true"]);
    run(&["config", "core.fsmonitor", &evil]);
    for hook in [
        "pre-commit",
        "post-commit",
        "commit-msg",
        "post-checkout",
        "post-index-change",
    ] {
        stage.executable(
            &format!("ws/hooks/{hook}"),
            "#!/bin/sh\necho hook >> /workspace/ran\n",
        );
        stage.executable(
            &format!("ws/.git/hooks/{hook}"),
            "#!/bin/sh\necho hook >> /workspace/ran\n",
        );
    }
    for arguments in [
        &["status"][..],
        &["add", "hello.txt"],
        &[
            "-c",
            "user.name=a",
            "-c",
            "user.email=b@c",
            "commit",
            "-m",
            "x",
        ],
        &[
            "-c",
            "user.name=a",
            "-c",
            "user.email=b@c",
            "commit",
            "--no-gpg-sign",
            "-m",
            "x",
        ],
        &[
            "-c",
            "user.name=a",
            "-c",
            "user.email=b@c",
            "commit",
            "--no-gpg-sign",
            "--amend",
        ],
        &["checkout", "-b", "side"],
        &["log"],
        &["fetch", "ssh://host.example/repository"],
        &["fetch", "ext::/workspace/evil"],
    ] {
        let told = stage.run(command("git", arguments)).await;
        assert!(!stage.path("ws/ran").exists(), "{arguments:?}: {told:?}");
    }
    let log = stage.run(command("git", &["log", "--format=%s"])).await;
    assert_eq!(log.stdout, "x\n", "{log:?}");
}
