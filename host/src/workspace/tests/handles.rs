//! Handles that outlive what they were opened on, and names that change while they are resolved.

use super::*;

#[test]
fn a_handle_does_what_it_was_opened_for() {
    let yard = Yard::new();
    let directory = yard.writable();
    let both = OpenOptions {
        read: true,
        ..CREATE
    };
    let Ok(Opened::File(file)) = directory.open("new.txt", both) else {
        panic!("it opens");
    };
    file.write_at(b"hello", 0).expect("written");
    file.append(b" world").expect("appended");
    file.write_at(b"J", 0).expect("written");
    assert_eq!(file.read_at(100, 0).expect("read"), b"Jello world");
    assert_eq!(file.read_at(3, 6).expect("read"), b"wor");
    assert_eq!(file.read_at(3, 100).expect("read"), b"");
    file.set_length(2).expect("cut");
    assert_eq!(content(&directory, "new.txt").expect("read"), "Je");
    for offset in [u64::MAX, 1 << 63] {
        assert_eq!(rule(file.read_at(1, offset)), "InvalidInput");
        assert_eq!(rule(file.write_at(b"x", offset)), "InvalidInput");
        assert_eq!(rule(file.set_length(offset)), "InvalidInput");
    }
    let Ok(Opened::File(reader)) = directory.open("new.txt", READ) else {
        panic!("it opens");
    };
    assert!(reader.write_at(b"x", 0).is_err() && reader.append(b"x").is_err());
    assert!(reader.set_length(0).is_err());
    let Ok(Opened::File(writer)) = directory.open("new.txt", WRITE) else {
        panic!("it opens");
    };
    assert!(writer.read_at(1, 0).is_err());
}

#[test]
fn a_directory_that_was_moved_is_judged_by_where_it_is() {
    let yard = Yard::new();
    let directory = yard.writable();
    let Ok(Opened::Directory(held)) = directory.open("sub/deep", READ) else {
        panic!("it opens");
    };
    // Not by a tool: it would be refused.
    fs::rename(yard.at("ws/sub/deep"), yard.at("outside/deep")).expect("moved");
    symlink(yard.at("outside"), yard.at("ws/sub/deep")).expect("linked");
    let before = picture(&yard.at("outside"));
    assert_eq!(rule(held.open("new.txt", CREATE)), "Leaves");
    assert_eq!(rule(held.list()), "Leaves");
    assert_eq!(picture(&yard.at("outside")), before);
}

#[test]
fn a_workspace_that_is_swapped_is_not_followed() {
    let yard = Yard::new();
    let directory = yard.writable();
    fs::rename(yard.at("ws"), yard.at("moved")).expect("moved");
    symlink(yard.at("outside"), yard.at("ws")).expect("linked");
    assert_eq!(content(&directory, "note.txt").expect("read"), "a note");
    assert_eq!(rule(content(&directory, "secret.txt")), "NotFound");
}

#[test]
fn nothing_goes_from_one_workspace_to_another() {
    let yard = Yard::new();
    let one = yard.writable();
    let other = yard.writable();
    assert_eq!(rule(one.rename("note.txt", &other, "x")), "Between");
    assert_eq!(rule(one.hard_link("note.txt", &other, "x")), "Between");
}

#[cfg(target_os = "linux")]
#[test]
fn what_the_kernel_shows_is_not_opened_wherever_it_is_mounted() {
    let everything = Workspace::open(Path::new("/"), Access::ReadOnly, PathRules::default())
        .expect("it opens")
        .directory();
    for path in ["proc/self/environ", "proc/self/fd/0", "proc/version"] {
        assert_eq!(rule(everything.open(path, READ)), "Kernel", "{path}");
    }
    let Ok(Opened::Directory(directory)) = everything.open("proc", READ) else {
        panic!("a directory is only its path");
    };
    assert_eq!(rule(directory.list()), "Kernel");
    assert!(Workspace::open(Path::new("/proc"), Access::ReadOnly, PathRules::default()).is_err());
    let devices = Workspace::open(Path::new("/dev"), Access::ReadWrite, PathRules::default())
        .expect("it opens")
        .directory();
    for path in ["null", "tty", "zero"] {
        for options in [READ, WRITE, CREATE, TRUNCATE] {
            assert_eq!(rule(devices.open(path, options)), "Special", "{path}");
        }
    }
}

/// A directory and a link out change places while a tool works below the name.
#[cfg(target_os = "linux")]
#[test]
fn a_link_swapped_in_while_a_path_is_resolved_leads_nowhere() {
    use std::sync::atomic::{AtomicBool, Ordering};
    let yard = Yard::new();
    fs::create_dir(yard.at("ws/swap")).expect("made");
    fs::write(yard.at("ws/swap/secret.txt"), "harmless").expect("written");
    symlink(yard.at("outside"), yard.at("ws/other")).expect("linked");
    let before = picture(&yard.at("outside"));
    let directory = yard.writable();
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                rustix::fs::renameat_with(
                    rustix::fs::CWD,
                    yard.at("ws/swap"),
                    rustix::fs::CWD,
                    yard.at("ws/other"),
                    rustix::fs::RenameFlags::EXCHANGE,
                )
                .expect("both are there");
            }
        });
        for _ in 0..3_000 {
            if let Ok(text) = content(&directory, "swap/secret.txt") {
                assert_eq!(text, "harmless");
            }
            drop(attempt(&directory, "create swap/made.txt"));
            drop(attempt(&directory, "write swap/secret.txt"));
            drop(attempt(&directory, "unlink swap/made.txt"));
            drop(attempt(&directory, "mkdir swap/dir/made"));
        }
        is_over.store(true, Ordering::Relaxed);
    });
    assert_eq!(picture(&yard.at("outside")), before);
}
