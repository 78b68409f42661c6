//! Never comes back, and never asks the host for anything.
hotcell_guests::guest!(|_| loop {
    std::hint::black_box(());
});
