//! Takes all the memory it can get.
hotcell_guests::guest!(|_| {
    let mut hoard: Vec<Vec<u8>> = Vec::new();
    loop {
        hoard.push(vec![1; 1 << 20]);
    }
});
