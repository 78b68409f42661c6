//! Who is told of a change, and what there is to keep.

use super::*;
use std::sync::Mutex;

/// Writes down what it is told, with what was there before.
#[derive(Default)]
pub(super) struct Notes(pub(super) Mutex<Vec<String>>);

impl Journal for Notes {
    fn before(&self, change: &Change<'_>) -> io::Result<()> {
        use std::io::Read;
        let earlier = match change.earlier.metadata()? {
            Some(metadata) if metadata.kind == Kind::File => {
                let mut text = String::new();
                change.earlier.open()?.read_to_string(&mut text)?;
                text
            }
            Some(metadata) if metadata.kind == Kind::Link => {
                change.earlier.link_target()?.display().to_string()
            }
            Some(metadata) => metadata.kind.to_string(),
            None => "nothing".to_owned(),
        };
        let note = format!("{:?} {} was {earlier}", change.kind, change.path.display());
        self.0.lock().expect("unbroken").push(note);
        Ok(())
    }

    fn failed(&self, path: &Path) {
        let note = format!("failed {}", path.display());
        self.0.lock().expect("unbroken").push(note);
    }
}

#[test]
fn the_journal_is_told_before_each_change_with_what_was_there() {
    let yard = Yard::new();
    let notes = Arc::new(Notes::default());
    let directory = yard
        .writable()
        .workspace()
        .with_journal(Arc::clone(&notes) as Arc<dyn Journal>)
        .directory();
    for change in [
        "truncate in/low.txt",
        "create new.txt",
        "mkdir made",
        "rename note.txt new.txt",
        "unlink out",
        "rmdir made",
        "rmdir sub",
        "times new.txt",
        "write .git/config",
        "write hard.txt",
    ] {
        drop(attempt(&directory, change));
    }
    drop(content(&directory, "new.txt"));
    assert_eq!(
        *notes.0.lock().expect("unbroken"),
        [
            "Write sub/deep/low.txt was low".to_owned(),
            "Create new.txt was nothing".to_owned(),
            "Create made was nothing".to_owned(),
            "Remove new.txt was ".to_owned(),
            "Rename { to: \"new.txt\" } note.txt was a note".to_owned(),
            format!("Remove out was {}", yard.at("outside").display()),
            "RemoveDirectory made was directory".to_owned(),
            "RemoveDirectory sub was directory".to_owned(),
            "failed sub".to_owned(),
            "Times new.txt was a note".to_owned(),
        ]
    );
}

/// Can keep nothing.
struct Full;

impl Journal for Full {
    fn before(&self, _change: &Change<'_>) -> io::Result<()> {
        Err(io::Error::from_raw_os_error(
            rustix::io::Errno::NOSPC.raw_os_error(),
        ))
    }

    fn failed(&self, _path: &Path) {
        panic!("nothing was tried");
    }
}

#[test]
fn what_cannot_be_kept_is_not_changed() {
    let yard = Yard::new();
    let directory = yard
        .writable()
        .workspace()
        .with_journal(Arc::new(Full))
        .directory();
    fs::create_dir(yard.at("ws/empty")).expect("made");
    let before = picture(&yard.at(""));
    for change in CHANGES {
        assert_eq!(rule(attempt(&directory, change)), "StorageFull", "{change}");
    }
    assert_eq!(picture(&yard.at("")), before);
}
