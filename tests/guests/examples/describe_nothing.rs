//! Is a component without any tool.
hotcell_guests::guest!(describe: Vec::new());
