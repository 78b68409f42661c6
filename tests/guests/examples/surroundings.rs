//! Answers what it finds of the process around it: arguments, environment, standard input.
hotcell_guests::guest!(|_| {
    let arguments: Vec<String> = std::env::args().collect();
    let variables: Vec<(String, String)> = std::env::vars().collect();
    let input = std::io::read_to_string(std::io::stdin());
    let directories: Vec<String> = wasip2::filesystem::preopens::get_directories()
        .into_iter()
        .map(|(_, name)| name)
        .collect();
    hotcell_guests::text(format!(
        "arguments {arguments:?}, variables {variables:?}, input {:?}, directories {directories:?}",
        input.unwrap_or_else(|error| error.kind().to_string())
    ))
});
