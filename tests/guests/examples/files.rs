//! Does to files what its arguments say, by the raw operations below any library's checks.
//!
//! Takes `operation mount path [path]`; answers `ok` with what was found, or `refused` with the
//! code.

use wasip2::filesystem::preopens::get_directories;
use wasip2::filesystem::types::{
    Descriptor, DescriptorFlags, ErrorCode, NewTimestamp, OpenFlags, PathFlags,
};

const FOLLOW: PathFlags = PathFlags::SYMLINK_FOLLOW;

fn open(
    directory: &Descriptor,
    path: &str,
    how: OpenFlags,
    flags: DescriptorFlags,
) -> Result<Descriptor, ErrorCode> {
    directory.open_at(FOLLOW, path, how, flags)
}

fn content(file: &Descriptor) -> Result<String, ErrorCode> {
    let (bytes, _) = file.read(1 << 20, 0)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn names(directory: &Descriptor) -> Result<String, ErrorCode> {
    let entries = directory.read_directory()?;
    let mut names = Vec::new();
    while let Some(entry) = entries.read_directory_entry()? {
        names.push(entry.name);
    }
    names.sort();
    Ok(names.join(" "))
}

fn act(directory: &Descriptor, words: &[&str]) -> Result<String, ErrorCode> {
    let nothing = OpenFlags::empty();
    let read = DescriptorFlags::READ;
    let write = DescriptorFlags::WRITE;
    let done = |()| String::new();
    match *words {
        ["read", path] => content(&open(directory, path, nothing, read)?),
        ["read-in", below, path] => {
            let lower = open(directory, below, OpenFlags::DIRECTORY, read)?;
            content(&open(&lower, path, nothing, read)?)
        }
        ["list", path] => names(&open(directory, path, OpenFlags::DIRECTORY, read)?),
        ["stat", path] => directory
            .stat_at(FOLLOW, path)
            .map(|stat| format!("{:?}", stat.type_)),
        ["mkdir-in", below, path] => {
            let flags = read | DescriptorFlags::MUTATE_DIRECTORY;
            let lower = open(directory, below, OpenFlags::DIRECTORY, flags)?;
            lower.create_directory_at(path).map(done)
        }
        ["write", path] => {
            let file = open(directory, path, nothing, write)?;
            file.write(b"changed", 0).map(|_| String::new())
        }
        ["write-by-reader", path] => {
            let file = open(directory, path, nothing, read)?;
            file.write(b"changed", 0).map(|_| String::new())
        }
        ["stream-by-reader", path] => {
            let file = open(directory, path, nothing, read)?;
            let stream = file.write_via_stream(0)?;
            let written = stream.blocking_write_and_flush(b"changed");
            written.map(done).map_err(|_| ErrorCode::Io)
        }
        ["append", path] => {
            let file = open(directory, path, nothing, write)?;
            let stream = file.append_via_stream()?;
            let written = stream.blocking_write_and_flush(b"changed");
            written.map(done).map_err(|_| ErrorCode::Io)
        }
        ["create", path] => open(directory, path, OpenFlags::CREATE, write).map(|_| String::new()),
        ["create-by-reader", path] => {
            open(directory, path, OpenFlags::CREATE, read).map(|_| String::new())
        }
        ["create-new", path] => {
            let how = OpenFlags::CREATE | OpenFlags::EXCLUSIVE;
            open(directory, path, how, write).map(|_| String::new())
        }
        ["truncate", path] => {
            open(directory, path, OpenFlags::TRUNCATE, write).map(|_| String::new())
        }
        ["truncate-by-reader", path] => {
            open(directory, path, OpenFlags::TRUNCATE, read).map(|_| String::new())
        }
        ["resize", path] => open(directory, path, nothing, write)?.set_size(1).map(done),
        ["resize-by-reader", path] => open(directory, path, nothing, read)?.set_size(1).map(done),
        ["touch", path] => directory
            .set_times_at(FOLLOW, path, NewTimestamp::Now, NewTimestamp::Now)
            .map(done),
        ["touch-open", path] => open(directory, path, nothing, read)?
            .set_times(NewTimestamp::Now, NewTimestamp::Now)
            .map(done),
        ["mkdir", path] => directory.create_directory_at(path).map(done),
        ["rmdir", path] => directory.remove_directory_at(path).map(done),
        ["unlink", path] => directory.unlink_file_at(path).map(done),
        ["rename", from, to] => directory.rename_at(from, directory, to).map(done),
        ["link", from, to] => {
            let no_follow = PathFlags::empty();
            directory.link_at(no_follow, from, directory, to).map(done)
        }
        ["symlink", target, path] => directory.symlink_at(target, path).map(done),
        ["readlink", path] => directory.readlink_at(path),
        ref other => panic!("what is {other:?}?"),
    }
}

/// The operations that go from one mount to another.
fn act_between(from: &Descriptor, to: &Descriptor, words: &[&str]) -> Result<String, ErrorCode> {
    match *words {
        ["rename", old, new] => from.rename_at(old, to, new).map(|()| String::new()),
        ["link", old, new] => from
            .link_at(PathFlags::empty(), old, to, new)
            .map(|()| String::new()),
        ref other => panic!("what is {other:?}?"),
    }
}

hotcell_guests::guest!(|call| {
    let directories = get_directories();
    let mount = |name: &str| {
        let found = directories.iter().find(|(_, mounted)| mounted == name);
        found.map(|(directory, _)| directory)
    };
    let words: Vec<&str> = call.arguments.split(' ').collect();
    let outcome = match words.as_slice() {
        ["between", from, to, rest @ ..] => match (mount(from), mount(to)) {
            (Some(from), Some(to)) => act_between(from, to, rest),
            _ => return hotcell_guests::text("no such mount"),
        },
        [operation, name, rest @ ..] => match mount(name) {
            Some(directory) => act(directory, &[&[*operation][..], rest].concat()),
            None => return hotcell_guests::text("no such mount"),
        },
        other => panic!("what is {other:?}?"),
    };
    hotcell_guests::text(match outcome {
        Ok(found) => format!("ok {found}"),
        Err(code) => format!("refused {}", code.name()),
    })
});
