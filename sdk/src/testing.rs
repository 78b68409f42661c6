//! Running a tool natively, in a unit test: a host that is nothing but a directory and a map.
//!
//! Owns what a test needs and a component has no use for, so it exists on native targets only. It
//! enforces no sandbox: a test that wants to see an escape refused runs the component.

use crate::call::Facts;
use crate::host::Backend;
use crate::process::{Command, Finished, Process};
use crate::{Answer, Call, Capability, Definition, StateError, Tool, ToolError, Versioned};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

pub use serde_json::{Value, json};

mod program;

use program::{MockProcess, MockProgram};

/// The wall clock of a call unless [`MockHost::with_deadline`] says otherwise.
const DEADLINE: Duration = Duration::from_secs(120);

/// A host for tests. State and reports live as long as it does, across calls, as if every tool that
/// it calls were in one component and one session.
///
/// ```
/// # use hotcell_sdk::{Answer, Call, Capability, Deserialize, JsonSchema, Tool, ToolError};
/// # /// Greets somebody.
/// # #[derive(Deserialize, JsonSchema)]
/// # struct Greet { name: String }
/// # impl Tool for Greet {
/// #     const NAME: &'static str = "greet";
/// #     const REQUIRES: &'static [Capability] = &[];
/// #     fn run(self, _: &Call<'_>) -> Result<Answer, ToolError> {
/// #         Ok(format!("hello {}", self.name).into())
/// #     }
/// # }
/// use hotcell_sdk::testing::{MockHost, json};
///
/// let workspace = tempfile::tempdir()?;
/// let host = MockHost::new(workspace.path());
/// let answer = host.call::<Greet>(json!({ "name": "Ada" }))?;
/// assert_eq!(answer.to_text(), "hello Ada");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct MockHost {
    workspace: PathBuf,
    skills: PathBuf,
    granted: Option<Vec<Capability>>,
    deadline: Duration,
    imports: MockImports,
}

impl MockHost {
    /// A host whose workspace is this directory, which should be an empty temporary one.
    pub fn new(workspace: impl Into<PathBuf>) -> Self {
        MockHost {
            workspace: workspace.into(),
            skills: PathBuf::from("/skills"),
            granted: None,
            deadline: DEADLINE,
            imports: MockImports::default(),
        }
    }

    /// Has the user want command lines to be run by this program.
    #[must_use]
    pub fn with_shell(mut self, program: impl Into<String>) -> Self {
        self.imports.shell = Some(program.into());
        self
    }

    /// Mounts `directory` as the installed skills.
    #[must_use]
    pub fn with_skills(mut self, directory: impl Into<PathBuf>) -> Self {
        self.skills = directory.into();
        self
    }

    /// Gives calls these capabilities and no others, instead of everything that the tool requires
    /// and accepts.
    #[must_use]
    pub fn granting(mut self, capabilities: impl IntoIterator<Item = Capability>) -> Self {
        self.granted = Some(capabilities.into_iter().collect());
        self
    }

    /// Lets calls start `program`: a function of the command and of all its input, which stands for
    /// it. Others are not among the programs of a call.
    #[must_use]
    pub fn with_program(
        mut self,
        program: impl Into<String>,
        run: impl Fn(&Command, &[u8]) -> Finished + Send + Sync + 'static,
    ) -> Self {
        self.imports
            .programs
            .insert(program.into(), Arc::new(MockProgram::new(run)));
        self
    }

    /// Gives calls this much wall clock instead of 120 seconds. Nothing ends a call that overruns:
    /// zero shows what a tool answers when its time is up, without waiting.
    #[must_use]
    pub fn with_deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// Calls the tool with these arguments.
    ///
    /// # Errors
    /// What the tool answers; [`InvalidArguments`](crate::ErrorKind::InvalidArguments) when the
    /// arguments do not parse; [`Denied`](crate::ErrorKind::Denied) when
    /// [`granting`](MockHost::granting) left out what the tool requires, where a real host would not
    /// offer it at all.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "so that a test reads `host.call::<T>(json!({ … }))`"
    )]
    pub fn call<T: Tool>(&self, arguments: Value) -> Result<Answer, ToolError> {
        let granted = self
            .granted
            .clone()
            .unwrap_or_else(|| [T::REQUIRES, T::ACCEPTS].concat());
        if let Some(missing) = T::REQUIRES.iter().find(|needed| !granted.contains(needed)) {
            return Err(ToolError::denied(format!(
                "`{}` requires the {missing} capability",
                T::NAME
            )));
        }
        let call = Call::new(
            &self.imports,
            Facts {
                workspace: self.workspace.clone(),
                temporary: None,
                skills: self.skills.clone(),
                granted,
                call_id: "call-1".to_owned(),
                session_id: "session-1".to_owned(),
                deadline: self.deadline,
            },
        );
        crate::invoke::run::<T>(&arguments.to_string(), &call)
    }

    /// The lines that calls reported so far, oldest first.
    pub fn reports(&self) -> Vec<String> {
        self.imports.memory().reports.clone()
    }

    /// What is stored under `key`.
    pub fn state(&self, key: &str) -> Option<Vec<u8>> {
        let memory = self.imports.memory();
        memory.state.get(key).map(|stored| stored.value.clone())
    }

    /// Stores `value` under `key`, as an earlier call would have.
    pub fn set_state(&self, key: &str, value: impl Into<Vec<u8>>) {
        let mut memory = self.imports.memory();
        let version = memory.version_of(key) + 1;
        let value = value.into();
        memory
            .state
            .insert(key.to_owned(), Versioned { value, version });
    }
}

/// The host's side of [`Call`] in a test.
#[derive(Debug, Default)]
pub(crate) struct MockImports {
    memory: Mutex<Memory>,
    programs: BTreeMap<String, Arc<MockProgram>>,
    shell: Option<String>,
}

#[derive(Debug, Default)]
struct Memory {
    state: BTreeMap<String, Versioned>,
    reports: Vec<String>,
}

impl Memory {
    fn version_of(&self, key: &str) -> u64 {
        self.state.get(key).map_or(0, |stored| stored.version)
    }
}

impl MockImports {
    /// A test that panicked in mid-call must not hide its message behind a second panic.
    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Backend for MockImports {
    fn state_get(&self, key: &str) -> Result<Option<Versioned>, StateError> {
        Ok(self.memory().state.get(key).cloned())
    }

    fn state_swap(&self, key: &str, value: &[u8], expected: u64) -> Result<u64, StateError> {
        let mut memory = self.memory();
        if memory.version_of(key) != expected {
            return Err(StateError::Conflict);
        }
        let version = expected + 1;
        let value = value.to_vec();
        memory
            .state
            .insert(key.to_owned(), Versioned { value, version });
        Ok(version)
    }

    fn report(&self, line: &str) {
        self.memory().reports.push(line.to_owned());
    }

    fn shell(&self) -> Option<String> {
        self.shell.clone()
    }

    fn programs(&self) -> Vec<String> {
        self.programs.keys().cloned().collect()
    }

    fn start(&self, command: &Command) -> Result<Process, ToolError> {
        let program = self.programs.get(command.program()).ok_or_else(|| {
            ToolError::denied(format!(
                "`{}` is not among the programs of this call",
                command.program()
            ))
        })?;
        Ok(Process::new(Box::new(MockProcess::new(program, command))))
    }
}

/// Checks that the file holds exactly these definitions: a JSON array sorted by name.
///
/// The host embeds the file of a built-in tool, so that a model knows the tool before its component
/// is compiled; for other tools it shows in review what a model will read. With the environment
/// variable `HOTCELL_UPDATE=1` the file is written instead.
///
/// # Panics
/// When the file is missing or says something else; the message names the first line that differs
/// and the command that writes the file.
pub fn assert_definitions_match(file: impl AsRef<Path>, definitions: &[Definition]) {
    let file = file.as_ref();
    let mut sorted: Vec<&Definition> = definitions.iter().collect();
    sorted.sort_by(|left, right| left.name.cmp(&right.name));
    let mut described =
        serde_json::to_string_pretty(&sorted).expect("a definition is plain JSON data");
    described.push('\n');
    if environment("HOTCELL_UPDATE").is_some_and(|value| value == "1") {
        if let Err(error) = fs::write(file, described) {
            panic!("{}: {error}", file.display());
        }
        return;
    }
    let package = environment("CARGO_PKG_NAME").unwrap_or_else(|| "PACKAGE".to_owned());
    let remedy = format!("run `HOTCELL_UPDATE=1 cargo test -p {package}` and commit the file");
    let kept = match fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) => panic!("{}: {error}; {remedy}", file.display()),
    };
    if let Some((line, kept, described)) = first_difference(&kept, &described) {
        panic!(
            "{}: line {line} is not what the tools describe; {remedy}\n  file:      {kept}\n  \
             described: {described}",
            file.display()
        );
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a switch of the test run, not configuration of a tool"
)]
fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

fn first_difference<'text>(
    left: &'text str,
    right: &'text str,
) -> Option<(usize, &'text str, &'text str)> {
    const END: &str = "(end of file)";
    let (mut lefts, mut rights) = (left.lines(), right.lines());
    for line in 1.. {
        match (lefts.next(), rights.next()) {
            (None, None) => break,
            (left, right) if left == right => {}
            (left, right) => return Some((line, left.unwrap_or(END), right.unwrap_or(END))),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Deserialize, ErrorKind, Exit, JsonSchema};

    /// Adds to a number that the session keeps.
    #[derive(Deserialize, JsonSchema)]
    struct Add {
        number: u64,
    }

    impl Tool for Add {
        const NAME: &'static str = "add";
        const REQUIRES: &'static [Capability] = &[Capability::SessionState];
        const ACCEPTS: &'static [Capability] = &[Capability::WorkspaceRead];

        fn run(self, call: &Call<'_>) -> Result<Answer, ToolError> {
            let stored = call.state_get("sum")?;
            let (sum, version) = match &stored {
                Some(stored) => (
                    String::from_utf8_lossy(&stored.value)
                        .parse()
                        .unwrap_or(0_u64),
                    stored.version,
                ),
                None => (0, 0),
            };
            let sum = (sum + self.number).to_string();
            call.state_swap("sum", sum.as_bytes(), version)?;
            call.report(&format!("sum {sum}"));
            let files = call.granted(Capability::WorkspaceRead);
            Ok(Answer::from(sum).and_text(if files { " (files)" } else { "" }))
        }
    }

    #[test]
    fn state_and_reports_outlive_a_call() {
        let host = MockHost::new("unused");
        assert_eq!(
            host.call::<Add>(json!({ "number": 2 }))
                .map(|a| a.to_text()),
            Ok("2 (files)".to_owned())
        );
        let narrow = host.granting([Capability::SessionState]);
        assert_eq!(
            narrow
                .call::<Add>(json!({ "number": 3 }))
                .map(|a| a.to_text()),
            Ok("5".to_owned())
        );
        assert_eq!(narrow.state("sum"), Some(b"5".to_vec()));
        assert_eq!(narrow.reports(), ["sum 2", "sum 5"]);
    }

    #[test]
    fn a_tool_without_what_it_requires_is_not_run() {
        let host = MockHost::new("unused").granting([Capability::WorkspaceRead]);
        let error = host
            .call::<Add>(json!({ "number": 2 }))
            .expect_err("refused");
        assert_eq!(error.kind(), ErrorKind::Denied);
        assert_eq!(
            error.message(),
            "`add` requires the session-state capability"
        );
    }

    #[test]
    fn a_swap_on_an_old_version_is_a_conflict() {
        let imports = MockImports::default();
        assert_eq!(imports.state_swap("k", b"a", 0), Ok(1));
        assert_eq!(imports.state_swap("k", b"b", 0), Err(StateError::Conflict));
        assert_eq!(imports.state_swap("k", b"b", 1), Ok(2));
        assert_eq!(
            imports.state_get("k"),
            Ok(Some(Versioned {
                value: b"b".to_vec(),
                version: 2
            }))
        );
    }

    /// Counts the bytes of a text by a program.
    #[derive(Deserialize, JsonSchema)]
    struct Count {
        text: String,
        most: usize,
    }

    impl Tool for Count {
        const NAME: &'static str = "count";
        const REQUIRES: &'static [Capability] = &[Capability::Process];

        fn run(self, call: &Call<'_>) -> Result<Answer, ToolError> {
            let command = Command::new("wc").arg("-c").env("LANG", "C");
            let counted = call.run(&command, self.text.as_bytes(), self.most)?;
            let out = String::from_utf8_lossy(&counted.stdout).into_owned();
            Ok(format!("{out}{}", counted.exit.status()).into())
        }
    }

    #[test]
    fn a_program_of_a_test_gets_its_command_and_input() {
        let host = MockHost::new("unused").with_program("wc", |command, input| {
            assert_eq!(command.arguments(), ["-c"]);
            Finished {
                exit: Exit::Signal(2),
                stdout: format!("{} ", input.len()).into_bytes(),
                stderr: Vec::new(),
            }
        });
        let count = |host: &MockHost, most| {
            host.call::<Count>(json!({ "text": "four", "most": most }))
                .map(|answer| answer.to_text())
        };
        assert_eq!(count(&host, 10), Ok("4 130".to_owned()));
        let error = count(&host, 1).expect_err("too much");
        assert_eq!(
            error.message(),
            "the program wrote more than 1 bytes and was ended"
        );
        let error = count(&MockHost::new("unused"), 10).expect_err("no program");
        assert_eq!(error.kind(), ErrorKind::Denied);
    }

    #[test]
    fn the_first_different_line_is_named() {
        assert_eq!(first_difference("a\nb\n", "a\nb\n"), None);
        assert_eq!(first_difference("a\nb", "a\nc"), Some((2, "b", "c")));
        assert_eq!(
            first_difference("a", "a\nc"),
            Some((2, "(end of file)", "c"))
        );
    }

    #[test]
    #[should_panic(expected = "HOTCELL_UPDATE=1 cargo test -p hotcell-sdk")]
    fn a_missing_file_of_definitions_says_how_to_write_it() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let file = directory.path().join("definitions.json");
        assert_definitions_match(&file, &[crate::definition::<Add>()]);
    }
}
