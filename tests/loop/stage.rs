//! One run: a workspace, a model, and the binary between them.

use crate::asked::Asked;
use crate::bench::{Bench, Ended, Running};
use crate::model_server::{ModelServer, Protocol};
use crate::told::Told;
use std::fs;
use std::path::PathBuf;
use std::sync::Once;

/// The key that the server demands.
pub const KEY: &str = "sk-loop-0123456789abcdef";

/// How the binary talks to the model.
#[derive(Debug, Clone, Copy)]
pub struct Lane {
    pub protocol: Protocol,
    pub streams: bool,
}

const fn lane(protocol: Protocol, streams: bool) -> Lane {
    Lane { protocol, streams }
}

/// Every way to talk.
pub const LANES: [Lane; 4] = [
    lane(Protocol::OpenAi, true),
    lane(Protocol::Anthropic, true),
    lane(Protocol::OpenAi, false),
    lane(Protocol::Anthropic, false),
];

/// One lane a protocol, for what does not depend on how an answer comes.
pub const BOTH: [Lane; 2] = [LANES[0], LANES[1]];

/// Everything of one run.
pub struct Stage {
    bench: Bench,
    pub server: ModelServer,
    lane: Lane,
    flags: Vec<String>,
    variables: Vec<(String, String)>,
}

impl Stage {
    /// An empty workspace and a model that has nothing to say yet.
    pub fn new(lane: Lane) -> Self {
        compile_once();
        let variable = match lane.protocol {
            Protocol::OpenAi => "OPENAI_API_KEY",
            Protocol::Anthropic => "ANTHROPIC_API_KEY",
        };
        let server = ModelServer::start();
        server.demand_key(KEY);
        Stage {
            bench: Bench::new(),
            server,
            lane,
            flags: vec!["--json".to_owned()],
            variables: vec![(variable.to_owned(), KEY.to_owned())],
        }
    }

    /// Adds a variable to the environment.
    pub fn variable(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Puts a file into the workspace.
    pub fn file(self, path: &str, content: impl AsRef<[u8]>) -> Self {
        let path = self.path(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        fs::write(path, content).expect("a file");
        self
    }

    /// Adds to the command line.
    pub fn flags<S: AsRef<str>>(mut self, flags: impl IntoIterator<Item = S>) -> Self {
        let flags = flags.into_iter().map(|flag| flag.as_ref().to_owned());
        self.flags.extend(flags);
        self
    }

    /// Shows the run to people and not to programs.
    pub fn for_people(mut self) -> Self {
        self.flags.retain(|flag| flag != "--json");
        self
    }

    /// Where a file of the workspace is.
    pub fn path(&self, path: &str) -> PathBuf {
        self.bench.work().join(path)
    }

    /// What a file of the workspace holds.
    pub fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// Every file of the workspace with its content, directories with none.
    pub fn tree(&self) -> Vec<(PathBuf, Option<Vec<u8>>)> {
        let mut found = Vec::new();
        let mut open = vec![self.bench.work()];
        while let Some(directory) = open.pop() {
            for entry in fs::read_dir(directory).expect("a directory") {
                let path = entry.expect("an entry").path();
                if path.is_dir() {
                    open.push(path.clone());
                    found.push((path, None));
                } else {
                    let content = fs::read(&path).unwrap_or_default();
                    found.push((path, Some(content)));
                }
            }
        }
        found.sort();
        found
    }

    /// Runs to the end and holds the events to their grammar.
    pub fn run(&self, prompt: &str) -> Told {
        Told::of(self.start(prompt).end())
    }

    /// Runs to the end.
    pub fn end(&self, prompt: &str) -> Ended {
        self.start(prompt).end()
    }

    /// Begins a run with nothing on standard input.
    pub fn start(&self, prompt: &str) -> Running {
        self.start_at(prompt, &self.server.url(self.lane.protocol))
    }

    /// Begins a run that asks at `url`.
    pub fn start_at(&self, prompt: &str, url: &str) -> Running {
        let provider = match self.lane.protocol {
            Protocol::OpenAi => "openai",
            Protocol::Anthropic => "anthropic",
        };
        let mut arguments = vec!["run", prompt, "--provider", provider, "--base-url", url];
        arguments.extend(["--model", "test-model"]);
        arguments.extend((!self.lane.streams).then_some("--no-stream"));
        arguments.extend(self.flags.iter().map(String::as_str));
        let mut command = self.bench.command(&arguments);
        command.envs(self.variables.iter().cloned());
        let mut running = self.bench.spawn(command);
        drop(running.stdin.take());
        running
    }

    /// All requests so far.
    pub fn asked(&self) -> Vec<Asked> {
        let requests = self.server.requests().into_iter();
        requests.map(Asked::new).collect()
    }

    /// All requests, of which there must be exactly so many.
    pub fn asked_times<const N: usize>(&self) -> [Asked; N] {
        let asked = self.asked();
        let count = asked.len();
        let exact = asked.try_into();
        exact.unwrap_or_else(|_| panic!("{count} requests and not {N}"))
    }
}

impl Drop for Stage {
    #[expect(clippy::print_stderr, reason = "says which row of a table failed")]
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("with {:?} and {:?}", self.lane, self.flags);
        }
    }
}

/// Compiles the built-in tools before tests that run side by side all do.
fn compile_once() {
    static COMPILED: Once = Once::new();
    COMPILED.call_once(|| {
        let look = "{calls: [{name: bash, arguments: {command: 'true'}}]}, {text: Done.}";
        let ended = Bench::new().scripted(look, &[]);
        assert_eq!(ended.code, Some(0), "{}", ended.err);
    });
}
