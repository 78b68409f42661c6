//! Implements another version of the contract.
wit_bindgen::generate!({
    inline: "
        package hotcell:tool@0.2.0;
        interface tool { describe: func() -> string; }
        world tool-component { export tool; }
    ",
});

struct Other;

impl exports::hotcell::tool::tool::Guest for Other {
    fn describe() -> String {
        "of another time".to_owned()
    }
}

export!(Other);
