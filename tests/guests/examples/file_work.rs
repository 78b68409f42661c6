//! Does one operation on files many times over, for the benchmarks.
//!
//! Takes `read`, `write` or `list`, how often, and a path; answers how many bytes or names it was.

use wasip2::filesystem::preopens::get_directories;
use wasip2::filesystem::types::{Descriptor, DescriptorFlags, ErrorCode, OpenFlags, PathFlags};

const BLOCK: usize = 4096;

fn read(directory: &Descriptor, path: &str) -> Result<usize, ErrorCode> {
    let follow = PathFlags::SYMLINK_FOLLOW;
    let file = directory.open_at(follow, path, OpenFlags::empty(), DescriptorFlags::READ)?;
    let (bytes, _) = file.read(BLOCK as u64, 0)?;
    Ok(bytes.len())
}

fn write(directory: &Descriptor, path: &str) -> Result<usize, ErrorCode> {
    let follow = PathFlags::SYMLINK_FOLLOW;
    let file = directory.open_at(follow, path, OpenFlags::CREATE, DescriptorFlags::WRITE)?;
    let written = file.write(&[b'x'; BLOCK], 0)?;
    Ok(usize::try_from(written).unwrap_or(0))
}

fn list(directory: &Descriptor, path: &str) -> Result<usize, ErrorCode> {
    let follow = PathFlags::SYMLINK_FOLLOW;
    let listed = directory.open_at(follow, path, OpenFlags::DIRECTORY, DescriptorFlags::READ)?;
    let entries = listed.read_directory()?;
    let mut count = 0;
    while entries.read_directory_entry()?.is_some() {
        count += 1;
    }
    Ok(count)
}

fn work(arguments: &str) -> Result<usize, String> {
    let words: Vec<&str> = arguments.split(' ').collect();
    let [operation, times, path] = words[..] else {
        return Err(format!("what is {arguments:?}?"));
    };
    let once = match operation {
        "read" => read,
        "write" => write,
        "list" => list,
        other => return Err(format!("what is {other:?}?")),
    };
    let times: usize = times
        .parse()
        .map_err(|_| format!("how often is {times:?}?"))?;
    let directories = get_directories();
    let found = directories.iter().find(|(_, mount)| mount == "/workspace");
    let (directory, _) = found.ok_or("there is no workspace")?;
    let mut done = 0;
    for _ in 0..times {
        done += once(directory, path).map_err(|code| code.name().to_owned())?;
    }
    Ok(done)
}

hotcell_guests::guest!(|call| {
    hotcell_guests::text(match work(&call.arguments) {
        Ok(done) => done.to_string(),
        Err(problem) => problem,
    })
});
