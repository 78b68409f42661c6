//! Overflows the stack that the compiler keeps in linear memory.
use std::hint::black_box;

#[expect(unconditional_recursion, reason = "it is what this guest is for")]
fn descend(depth: u64) -> u64 {
    let frame = black_box([depth; 512]);
    descend(depth + 1) + frame[0]
}

hotcell_guests::guest!(|_| hotcell_guests::text(descend(0).to_string()));
