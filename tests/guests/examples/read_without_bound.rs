//! Asks the host to read 16 EiB of a small file, in every way there is.
use wasip2::filesystem::preopens::get_directories;
use wasip2::filesystem::types::{DescriptorFlags, OpenFlags, PathFlags};

hotcell_guests::guest!(|_| {
    let (workspace, _) = get_directories().remove(0);
    let file = workspace
        .open_at(
            PathFlags::empty(),
            "note.txt",
            OpenFlags::empty(),
            DescriptorFlags::READ,
        )
        .expect("the test made it");
    let (at_once, _) = file.read(u64::MAX, 0).expect("a read");
    let stream = file.read_via_stream(0).expect("a stream");
    let streamed = stream.blocking_read(u64::MAX).expect("a read");
    hotcell_guests::text(format!("{} {}", at_once.len(), streamed.len()))
});
