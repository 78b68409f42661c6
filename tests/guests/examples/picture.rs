//! Answers a text and a picture.
use hotcell_guests::{Content, Image};

hotcell_guests::guest!(|_| Ok(vec![
    Content::Text("a picture".to_owned()),
    Content::Image(Image {
        media_type: "image/png".to_owned(),
        data: vec![0x89, b'P', b'N', b'G'],
    }),
]));
