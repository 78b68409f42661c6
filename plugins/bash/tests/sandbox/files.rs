//! Files outside, a read-only workspace, pipes and sockets.

use super::*;

#[test]
fn nothing_outside_the_workspace_is_read() {
    let place = Place::new();
    let outside = place.0.path().join("outside");
    let workspace = place.workspace();
    symlink(&outside, workspace.join("absolute")).expect("a link");
    symlink("../outside", workspace.join("relative")).expect("a link");
    symlink("../outside/secret", workspace.join("file")).expect("a link");
    symlink("relative/secret", workspace.join("chain")).expect("a link");
    symlink("/proc/self/environ", workspace.join("environ")).expect("a link");
    let host = place.host();
    let secret = outside.join("secret");
    let commands = [
        format!("cat {}", secret.display()),
        "cat absolute/secret".into(),
        "cat relative/secret".into(),
        "cat file".into(),
        "cat chain".into(),
        "cat ../outside/secret".into(),
        "cat ../ws-evil/f".into(),
        "cat ../../../../../../../..".to_owned() + &secret.display().to_string(),
        "cd ../outside && cat secret".into(),
        "cd relative && cat secret".into(),
        "cat < file".into(),
        "v=$(<relative/secret); echo \"$v\"; test -n \"$v\"".into(),
        "grep -r SECRET absolute relative file".into(),
        "cp relative/secret stolen && cat stolen".into(),
        "ln -s ../outside more && cat more/secret".into(),
        format!("ln -s {} more && cat more/secret", outside.display()),
        "tar cf - relative/secret | tar xfO -".into(),
        "source file".into(),
        "cat environ".into(),
        "cat /proc/self/environ".into(),
        "cat /proc/1/cmdline /proc/self/fd/0".into(),
        "cat /etc/shadow".into(),
        "cat /dev/tty".into(),
        "find / -name secret | grep .".into(),
    ];
    let environment: Vec<String> = ["PATH", "CARGO_MANIFEST_DIR"]
        .iter()
        .filter_map(|name| option_env_at_run(name))
        .collect();
    for command in &commands {
        let answer = run(&host, command);
        assert!(!answer.contains("SECRET"), "{command}: {answer}");
        assert!(
            environment.iter().all(|value| !answer.contains(value)),
            "{command}: {answer}"
        );
    }
}

/// What the test itself has in its environment and no command may see.
#[expect(
    clippy::disallowed_methods,
    reason = "the test looks for its own environment in answers"
)]
fn option_env_at_run(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

#[test]
fn nothing_outside_the_workspace_is_changed() {
    let place = Place::new();
    let workspace = place.workspace();
    let outside = place.0.path().join("outside");
    symlink(&outside, workspace.join("outbox")).expect("a link");
    symlink("../outside", workspace.join("near")).expect("a link");
    symlink("../outside/secret", workspace.join("file")).expect("a link");
    let before = place.outside();
    let host = place.host();
    let path = outside.display();
    for command in [
        "echo x > outbox/x".to_owned(),
        "echo x > near/x".into(),
        "echo x >> file".into(),
        "echo x > file; cat file".into(),
        "cp kept.txt outbox/".into(),
        "mv kept.txt near/secret".into(),
        "rm -f near/secret file/".into(),
        "rm -rf outbox/* near/".into(),
        "sed -i s/SECRET/x/ file near/secret".into(),
        "mkdir outbox/d near/d".into(),
        "touch near/new outbox/secret".into(),
        "tee near/new < kept.txt".into(),
        format!("echo x > {path}/x"),
        "echo x > ../outside/x".into(),
        "cd .. && touch outside/x".into(),
        "truncate -s 0 near/secret".into(),
        "ln kept.txt near/hard".into(),
        "dd if=/dev/zero of=near/secret count=1".into(),
        "chmod 777 near/secret".into(),
        "install kept.txt near/secret".into(),
        "rm -rf /workspace/../outside ../outside".into(),
    ] {
        let answer = run(&host, &command);
        assert_eq!(place.outside(), before, "{command}: {answer}");
    }
}

#[test]
fn a_write_to_no_place_is_refused_and_not_lost() {
    let host_place = Place::new();
    let host = host_place.host();
    for command in [
        "echo x > /etc/new",
        "echo x > /new",
        "mkdir /opt/x",
        "touch /usr/bin/ls2",
        "rm -rf /workspace",
        "mv /workspace /tmp/w",
    ] {
        let answer = run(&host, command);
        assert!(!has_status(&answer, 0), "{command}: {answer}");
        assert!(printed(&answer).contains(':'), "{command}: {answer}");
    }
    assert!(host_place.workspace().join("kept.txt").exists());
}

#[test]
fn a_read_only_workspace_answers_as_a_read_only_file_system() {
    let place = Place::new();
    fs::write(place.workspace().join("run.sh"), "#!/bin/sh\necho ran\n").expect("a file");
    let host = place
        .host()
        .granting([Capability::WorkspaceRead, Capability::SessionState]);
    for command in [
        "cat > f <<< x",
        "echo x > f",
        "echo x >> kept.txt",
        "echo x > kept.txt",
        "tee f < kept.txt > /dev/null",
        "sed -i s/k/x/ kept.txt",
        "cp kept.txt copy.txt",
        "mv kept.txt moved.txt",
        "rm kept.txt",
        "rm -rf sub",
        "rmdir sub",
        "mkdir new",
        "mkdir -p new/deep",
        "touch new",
        "ln -s kept.txt link",
        "truncate -s 0 kept.txt",
        "dd if=kept.txt of=new 2>&1",
        "chmod 600 kept.txt",
        "sort -o kept.txt kept.txt",
        "exec > log || exit",
    ] {
        let answer = run(&host, command);
        assert!(
            answer.contains("Read-only file system"),
            "{command}: {answer}"
        );
        assert!(!has_status(&answer, 0), "{command}: {answer}");
    }
    let names: Vec<_> = fs::read_dir(place.workspace())
        .expect("the workspace")
        .map(|entry| entry.expect("an entry").file_name())
        .collect();
    assert_eq!(names.len(), 3, "{names:?}");
    assert_eq!(
        fs::read_to_string(place.workspace().join("kept.txt"))
            .ok()
            .as_deref(),
        Some("kept\n")
    );

    // Reading, running and working in /tmp go on.
    let answer = run(
        &host,
        "cat kept.txt; ./run.sh; echo t > /tmp/t && cat /tmp/t; cd sub",
    );
    assert_eq!(printed(&answer), "kept\nran\nt\n");
    assert!(answer.ends_with(", now in /workspace/sub]"), "{answer}");
}

#[test]
fn skills_can_be_read_where_they_are_given() {
    let place = Place::new();
    let skills = place.0.path().join("skills");
    fs::create_dir_all(skills.join("pdf")).expect("a directory");
    fs::write(skills.join("pdf/SKILL.md"), "how to\n").expect("a file");
    let host = place.host().with_skills(&skills);
    let answer = run(
        &host,
        "cat /skills/pdf/SKILL.md; ls /; echo x > /skills/new",
    );
    assert!(answer.starts_with("how to\n"), "{answer}");
    assert!(answer.contains("Read-only file system"), "{answer}");
    let without = host.granting([Capability::WorkspaceRead]);
    assert!(!run(&without, "cat /skills/pdf/SKILL.md").contains("how to"));
}

#[test]
fn a_pipe_or_socket_is_refused_before_it_is_opened() {
    let place = Place::new();
    let _socket =
        std::os::unix::net::UnixListener::bind(place.workspace().join("socket")).expect("a socket");
    let fifo = place.workspace().join("fifo");
    assert!(
        std::process::Command::new("mkfifo")
            .arg(&fifo)
            .status()
            .is_ok_and(|s| s.success()),
        "mkfifo"
    );
    let host = place.host();
    for command in [
        "cat fifo",
        "cat socket",
        "cat < fifo",
        "echo x > fifo",
        "echo x >> fifo",
        "grep x fifo",
        "source fifo",
        "./fifo",
        "cp fifo copy",
        "head -1 fifo",
        "sed -i s/a/b/ fifo",
        "wc fifo",
    ] {
        let answer = run_for(&host, command, 5);
        assert!(!answer.contains("timed out"), "{command}: {answer}");
        assert!(!has_status(&answer, 0), "{command}: {answer}");
    }
    assert!(has_status(
        &run(&host, "ls -l; [ -f fifo ] && exit 9; exit 0"),
        0
    ));
}
