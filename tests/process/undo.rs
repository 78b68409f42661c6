//! What real programs change, taken back: whatever they are, and however they end.

use crate::support::{Stage, command, digests, python, sh, told};
use hotcell::policy::PathRules;
use hotcell::process::{Child, Command, SpawnError, Witness};
use hotcell::undo::{CallJournal, Recorder, Restored, Step, UndoStore};
use hotcell::workspace::{Access, Workspace};
use std::os::unix::fs::symlink;
use std::sync::Arc;
use tokio::io::AsyncReadExt;

struct Kept {
    stage: Stage,
}

impl Kept {
    /// None where the machine cannot show a process.
    fn new() -> Option<Kept> {
        let stage = Stage::new()?;
        stage.file("ws/src/main.py", "print('hello')\n");
        stage.file("ws/src/deep/data.txt", "one\ntwo\nthree\n");
        stage.executable("ws/run.sh", "#!/bin/sh\necho run\n");
        symlink("hello.txt", stage.path("ws/link")).expect("a link");
        Some(Kept { stage })
    }

    fn store(&self) -> UndoStore {
        UndoStore::new(&self.stage.path("data"))
    }

    fn workspace(&self) -> Workspace {
        Workspace::open(
            &self.stage.workspace(),
            Access::ReadWrite,
            PathRules::default(),
        )
        .expect("a workspace")
    }

    fn recorder(&self) -> Recorder {
        let place = self.stage.workspace();
        Recorder::new(self.store(), "first", &place, self.workspace(), "a title")
    }

    fn call(recorder: &Recorder, call: u32) -> Arc<CallJournal> {
        recorder.call(Step {
            turn: 1,
            call,
            tool: "bash".to_owned(),
        })
    }

    async fn spawn(
        &self,
        command: Command,
        journal: &Arc<CallJournal>,
    ) -> Result<Child, SpawnError> {
        let witness: Arc<dyn Witness> = Arc::clone(journal) as _;
        self.stage
            .processes()
            .spawn_watched(command, &self.stage.grant(), Some(witness))
            .await
    }

    fn undo(&self, what: &str, run: &str) -> Restored {
        let asked = what.parse().expect("a selection");
        self.store()
            .restore(
                &self.stage.workspace(),
                &self.workspace(),
                &asked,
                run,
                false,
            )
            .expect("it is taken back")
    }
}

#[tokio::test]
async fn what_programs_do_is_taken_back_and_so_is_that() {
    let git = "export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b;";
    for script in [
        "echo more >> hello.txt".to_owned(),
        "echo changed > src/deep/data.txt; touch -r hello.txt src/deep/data.txt".to_owned(),
        "chmod 700 run.sh src; mkdir -p made/by/it; echo x > made/by/it/x; ln -s / made/out".to_owned(),
        "mv src moved; sed -i s/hello/bye/ moved/main.py; rm moved/deep/data.txt".to_owned(),
        "rm -rf src link run.sh; ln -s gone link; mkdir run.sh".to_owned(),
        "ln hello.txt twin; echo both >> twin; mkfifo pipe".to_owned(),
        "(setsid sh -c 'echo child > child.txt; mv run.sh ran.sh' &) ; sleep 0.2".to_owned(),
        "python3 -c 'import os, shutil; shutil.move(\"src\", \"a\"); os.truncate(\"hello.txt\", 2); os.utime(\"run.sh\", (1, 1))'".to_owned(),
        // What git makes that is protected, is gone at once.
        format!("{git} git init -q -b main . 2>/dev/null; git add -A; git commit -qm one; echo x > hello.txt"),
        "echo x > hello.txt; kill -9 $$".to_owned(),
    ] {
        let Some(kept) = Kept::new() else {
            return;
        };
        let before = digests(&kept.stage.workspace());
        let journal = Kept::call(&kept.recorder(), 1);
        let child = kept.spawn(sh(&script), &journal).await.expect("it starts");
        told(child, &[]).await;
        journal.at_rest().await;
        let notes = journal.finish();
        assert_eq!(notes, Vec::<String>::new(), "{script}");
        let after = digests(&kept.stage.workspace());
        assert_ne!(after, before, "{script}");
        let undone = kept.undo("last", "second");
        assert_eq!(undone.lost, [], "{script}");
        assert_eq!(digests(&kept.stage.workspace()), before, "{script}");
        // A pipe is not made again, nor a directory above what is protected.
        if !script.contains("mkfifo") && !script.contains("git init") {
            let redone = kept.undo("second", "third");
            assert_eq!(redone.lost, [], "{script}");
            assert_eq!(digests(&kept.stage.workspace()), after, "{script}");
        }
    }
}

#[tokio::test]
async fn a_repository_is_what_it_was_before_a_commit_and_a_checkout() {
    let Some(kept) = Kept::new() else {
        return;
    };
    let git = |arguments: &[&str]| {
        let identity = ["-c", "user.name=a", "-c", "user.email=a@b"];
        let status = std::process::Command::new("git")
            .args(identity)
            .args(arguments)
            .current_dir(kept.stage.workspace())
            .status()
            .expect("git is installed");
        assert!(status.success(), "{arguments:?}");
    };
    git(&["init", "-q", "-b", "main", "."]);
    git(&["add", "-A"]);
    git(&["commit", "-qm", "first"]);
    let before = digests(&kept.stage.workspace());
    let recorder = kept.recorder();
    let journal = Kept::call(&recorder, 1);
    for arguments in [
        &["checkout", "-qb", "other"][..],
        &["rm", "-q", "-r", "src"],
        &[
            "-c",
            "user.name=a",
            "-c",
            "user.email=a@b",
            "commit",
            "-qm",
            "second",
        ],
        &["gc", "-q", "--prune=now"],
    ] {
        let child = kept.spawn(command("git", arguments), &journal).await;
        let ended = told(child.expect("it starts"), &[]).await;
        assert!(ended.succeeded(), "{arguments:?}: {ended:?}");
    }
    journal.at_rest().await;
    assert_eq!(journal.finish(), Vec::<String>::new());
    assert!(!kept.stage.path("ws/src").exists());
    let undone = kept.undo("last", "second");
    assert_eq!(undone.lost, []);
    assert_eq!(digests(&kept.stage.workspace()), before);
    git(&["fsck", "--strict"]);
}

#[tokio::test]
async fn what_a_program_did_before_it_was_ended_counts() {
    let Some(kept) = Kept::new() else {
        return;
    };
    let before = digests(&kept.stage.workspace());
    let journal = Kept::call(&kept.recorder(), 1);
    let script = "open('hello.txt', 'a').write('more'); open('new', 'w').write('x'); print('done', flush=True); import time; time.sleep(1000)";
    let mut child = kept
        .spawn(python(script), &journal)
        .await
        .expect("it starts");
    let mut said = [0; 4];
    let mut stdout = child.stdout.take().expect("standard output");
    stdout.read_exact(&mut said).await.expect("it speaks");
    // As when its call is dropped: nobody waits for the process, but for what it did.
    drop(child);
    journal.at_rest().await;
    assert!(journal.was_told());
    assert_eq!(journal.finish(), Vec::<String>::new());
    let undone = kept.undo("last", "second");
    assert_eq!(undone.lost, []);
    assert_eq!(digests(&kept.stage.workspace()), before);
}

#[tokio::test]
async fn programs_at_once_are_taken_back_together() {
    let Some(kept) = Kept::new() else {
        return;
    };
    let before = digests(&kept.stage.workspace());
    let recorder = kept.recorder();
    let journals = [Kept::call(&recorder, 1), Kept::call(&recorder, 2)];
    let scripts = [
        "for n in 1 2 3 4 5; do echo one >> hello.txt; echo $n > one-$n; done; cat",
        "for n in 1 2 3 4 5; do echo two >> hello.txt; echo $n > two-$n; done; cat; rm -rf src",
    ];
    let mut children = Vec::new();
    for (script, journal) in scripts.iter().zip(&journals) {
        children.push(kept.spawn(sh(script), journal).await.expect("it starts"));
    }
    // Both run until both have begun: they end with their input.
    let ended: Vec<_> =
        futures::future::join_all(children.into_iter().map(|child| told(child, b""))).await;
    assert!(ended.iter().all(|told| told.succeeded()), "{ended:?}");
    let mut notes = Vec::new();
    for journal in &journals {
        journal.at_rest().await;
        notes.extend(journal.finish());
    }
    assert!(
        notes
            .iter()
            .any(|note| note.contains("ran at the same time")),
        "{notes:?}"
    );
    let undone = kept.undo("last:1", "second");
    assert_eq!(undone.lost, []);
    assert_eq!(digests(&kept.stage.workspace()), before);
}

#[tokio::test]
async fn a_program_that_never_started_leaves_nobody_waiting() {
    let Some(kept) = Kept::new() else {
        return;
    };
    let journal = Kept::call(&kept.recorder(), 1);
    let mut command = sh("true");
    command.directory = "/workspace/absent".to_owned();
    let refused = kept.spawn(command, &journal).await.map(drop);
    assert!(refused.is_err());
    journal.at_rest().await;
    assert!(!journal.was_told());
}
