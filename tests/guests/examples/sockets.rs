//! Connects to a server.
hotcell_guests::guest!(|_| {
    let connected = std::net::TcpStream::connect("127.0.0.1:9");
    hotcell_guests::text(format!("{}", connected.is_ok()))
});
