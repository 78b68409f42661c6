//! Writes eight mebibytes at once, whatever the host permitted.
hotcell_guests::guest!(|_| {
    let stdout = wasip2::cli::stdout::get_stdout();
    let written = stdout.write(&vec![b'x'; 8 << 20]);
    hotcell_guests::text(format!("{written:?}"))
});
