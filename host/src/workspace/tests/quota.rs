//! A directory that may have so many bytes, and no way around that.

use crate::policy::PathRules;
use crate::workspace::{Access, Directory, File, FileError, OpenOptions, Opened, Workspace};
use rustix::io::Errno;

const MOST: u64 = 1 << 20;

fn limited() -> (tempfile::TempDir, Directory) {
    let directory = tempfile::tempdir().expect("a directory");
    let workspace = Workspace::open(directory.path(), Access::ReadWrite, PathRules::default());
    let workspace = workspace.expect("it opens").limited_to(MOST);
    let root = workspace.directory();
    (directory, root)
}

fn make(root: &Directory, path: &str) -> Result<File, FileError> {
    let options = OpenOptions {
        write: true,
        create: true,
        ..OpenOptions::default()
    };
    match root.open(path, options)? {
        Opened::File(file) => Ok(file),
        Opened::Directory(_) => panic!("a file was asked for"),
    }
}

fn is_full(result: Result<(), FileError>) -> bool {
    matches!(result, Err(FileError::System(Errno::DQUOT)))
}

#[test]
fn no_way_of_writing_gets_past_the_limit() {
    let half = vec![b'x'; usize::try_from(MOST / 2).expect("it is small")];
    type Way = (&'static str, fn(&File, &[u8], u64) -> Result<(), FileError>);
    let ways: [Way; 3] = [
        ("write", |file, bytes, round| {
            file.write_at(bytes, round * bytes.len() as u64)
        }),
        ("append", |file, bytes, _| file.append(bytes)),
        ("length", |file, bytes, round| {
            file.set_length((round + 1) * bytes.len() as u64)
        }),
    ];
    for (name, way) in ways {
        let (_directory, root) = limited();
        let file = make(&root, "file").expect("there is room");
        way(&file, &half, 0).expect(name);
        assert!(is_full(way(&file, &half, 1)), "{name}");
        assert!(is_full(file.write_at(b"x", MOST * 1000)), "{name}");
        // What is there can be written again, and what is removed makes room.
        file.write_at(&half, 0).expect(name);
        root.remove_file("file").expect(name);
        assert!(is_full(file.write_at(b"x", MOST)), "{name}: without a name");
        let other = make(&root, "other").expect(name);
        way(&other, &half, 0).expect(name);
    }
}

#[test]
fn holes_and_many_small_things_count() {
    let (_directory, root) = limited();
    for name in ["a", "b"] {
        let file = make(&root, name).expect("there is room");
        let done = file.set_length(MOST / 2);
        assert_eq!(is_full(done), name == "b");
    }
    let (_directory, root) = limited();
    let made = (0..10_000)
        .take_while(|number| root.create_directory(&number.to_string()).is_ok())
        .count();
    assert!((100..=256).contains(&made), "{made}");
    assert!(make(&root, "file").is_err());
    assert!(root.symbolic_link("x", "link").is_err());
    root.remove_directory("0").expect("it goes");
    make(&root, "file").expect("there is room again");
}
