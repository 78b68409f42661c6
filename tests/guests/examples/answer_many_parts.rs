//! Answers 200,000 empty texts: no byte of content, and a list that the host has to build.
use hotcell_guests::Content;

hotcell_guests::guest!(|_| Ok(vec![Content::Text(String::new()); 200_000]));
