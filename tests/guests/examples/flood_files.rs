//! Opens 100,000 files and closes none.
hotcell_guests::guest!(|_| {
    let opened: Result<Vec<_>, _> = (0..100_000)
        .map(|_| std::fs::File::open("/workspace/note.txt"))
        .collect();
    hotcell_guests::text(format!("{:?}", opened.map(|files| files.len())))
});
