//! Calls every operation on files with arguments that no library would send.
//!
//! Answers one line for each that was allowed, or `nothing was allowed`.

use wasip2::filesystem::preopens::get_directories;
use wasip2::filesystem::types::{
    Descriptor, DescriptorFlags, ErrorCode, NewTimestamp, OpenFlags, PathFlags,
};

const FOLLOW: PathFlags = PathFlags::SYMLINK_FOLLOW;

/// Paths that name nothing, or more than there can be.
fn paths() -> Vec<String> {
    let mut paths = vec![
        String::new(),
        "\0".to_owned(),
        "note.txt\0".to_owned(),
        "a\0/../../outside".to_owned(),
        "x".repeat(300),
        "x".repeat(100_000),
        "x/".repeat(100_000),
        "../".repeat(10_000),
        "sub/../".repeat(10_000),
        "./".repeat(10_000) + "absent",
        "/".repeat(10_000),
        "note.txt/".to_owned(),
        "note.txt/.".to_owned(),
        "note.txt/..".to_owned(),
        "absent/..".to_owned(),
        "absent/../note.txt".to_owned(),
        "loop/".to_owned(),
        "loop/../note.txt".to_owned(),
    ];
    paths.extend(["..", "../", "/..", "/"].map(str::to_owned));
    paths
}

fn try_path(directory: &Descriptor, path: &str, allowed: &mut Vec<String>) {
    let mut note = |what: &str, outcome: Result<(), ErrorCode>| {
        if outcome.is_ok() {
            let short: String = path.chars().take(20).collect();
            allowed.push(format!("{what} {short:?}"));
        }
    };
    let every = DescriptorFlags::READ | DescriptorFlags::WRITE;
    for how in [OpenFlags::empty(), OpenFlags::CREATE, OpenFlags::TRUNCATE] {
        let opened = directory.open_at(FOLLOW, path, how, every);
        note("open", opened.map(drop));
    }
    note("stat", directory.stat_at(FOLLOW, path).map(drop));
    note("hash", directory.metadata_hash_at(FOLLOW, path).map(drop));
    note("mkdir", directory.create_directory_at(path));
    note("rmdir", directory.remove_directory_at(path));
    note("unlink", directory.unlink_file_at(path));
    note("readlink", directory.readlink_at(path).map(drop));
    note(
        "rename to",
        directory.rename_at("note.txt", directory, path),
    );
    note("rename", directory.rename_at(path, directory, "taken"));
    let plain = PathFlags::empty();
    note(
        "link to",
        directory.link_at(plain, "note.txt", directory, path),
    );
    note("link", directory.link_at(plain, path, directory, "taken"));
    note("symlink", directory.symlink_at("note.txt", path));
    let now = NewTimestamp::Now;
    note("touch", directory.set_times_at(FOLLOW, path, now, now));
}

/// Offsets and lengths near the end of what a number can say.
fn try_numbers(directory: &Descriptor, allowed: &mut Vec<String>) {
    let every = DescriptorFlags::READ | DescriptorFlags::WRITE;
    let nothing = OpenFlags::empty();
    let Ok(file) = directory.open_at(FOLLOW, "note.txt", nothing, every) else {
        allowed.push("the note does not open".to_owned());
        return;
    };
    for number in [u64::MAX, u64::MAX - 1, 1 << 63] {
        let mut note = |what: &str, is_allowed: bool| {
            if is_allowed {
                allowed.push(format!("{what} {number}"));
            }
        };
        note("write", file.write(b"x", number).is_ok());
        note("resize", file.set_size(number).is_ok());
        note(
            "read",
            file.read(10, number)
                .is_ok_and(|(bytes, _)| !bytes.is_empty()),
        );
        let stream = file.read_via_stream(number);
        note(
            "stream",
            stream.is_ok_and(|stream| stream.blocking_read(10).is_ok()),
        );
        let stream = file.write_via_stream(number);
        let written = |stream: wasip2::io::streams::OutputStream| {
            stream.blocking_write_and_flush(b"x").is_ok()
        };
        note("stream to", stream.is_ok_and(written));
        // A length is cut to what a call may hand out, so this one is allowed.
        let short = file
            .read(number, 0)
            .is_ok_and(|(bytes, _)| bytes.len() == 6);
        note("a wrong length", !short);
    }
}

hotcell_guests::guest!(|_| {
    let mut allowed = Vec::new();
    for (directory, mount) in get_directories() {
        if mount == "/workspace" {
            for path in paths() {
                try_path(&directory, &path, &mut allowed);
            }
            try_numbers(&directory, &mut allowed);
        }
    }
    hotcell_guests::text(if allowed.is_empty() {
        "nothing was allowed".to_owned()
    } else {
        allowed.join("\n")
    })
});
