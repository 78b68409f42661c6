//! Imports an interface that no host has.
wit_bindgen::generate!({
    inline: "
        package hostile:unknown@1.2.3;
        interface thing { act: func(); }
        world importer { import thing; }
    ",
});

hotcell_guests::guest!(|_| {
    hostile::unknown::thing::act();
    hotcell_guests::text("acted")
});
