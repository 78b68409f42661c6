//! The whole loop, from outside: the built binary against a scripted model over real HTTP.
//!
//! Nothing here knows a type of hotcell. A test sees what a person or a program sees: the exit
//! code, the events, the files, and what the model was sent. Each holds for both protocols, and
//! for streams and whole answers where that matters.

#[expect(dead_code, reason = "the tests of the command line use more of it")]
#[path = "../cli/bench.rs"]
mod bench;
#[path = "../support/model_server/mod.rs"]
mod model_server;

mod arguments;
mod asked;
mod endings;
mod files;
#[cfg(unix)]
mod interrupts;
mod plan;
mod plugins;
mod requests;
mod retries;
mod secrets;
mod stage;
mod thinking;
mod told;
mod work;
