//! A table of guests and how each must end, beside a good call that must not notice.
//!
//! The match has no wildcard: a guest that nobody expects anything of does not compile. Guests
//! that need more than one call name the test that calls them.

use crate::support::{self, LIMITS, POOLING, call, failure, grant_on, load, text};
use crate::{describing, escapes, files, loading, processes, state, surroundings};
use hotcell::policy::Grant;
use hotcell::protocol::{Capability, Limit, Limits, ToolErrorKind};
use hotcell::sandbox::{CallOutcome, Component, Sandbox};
use hotcell_test_artifacts::Guest;

/// What is expected of a guest.
enum Coverage {
    /// One call ends like this.
    Call(Case),
    /// That test says it. A pointer and not a name, so that the test must be there.
    Elsewhere(#[expect(dead_code, reason = "only the compiler reads it")] fn()),
}

/// One call.
struct Case {
    arguments: &'static str,
    capabilities: &'static [Capability],
    /// Limits that differ from [`LIMITS`].
    limits: &'static [(Limit, u64)],
    expected: Expected,
}

/// How a call ends.
enum Expected {
    /// By this text.
    Answer(&'static str),
    /// By a crash whose message has these parts.
    Crash(&'static [&'static str]),
    /// By a failure of the tool's own.
    Failure(ToolErrorKind, &'static str),
    /// By a limit, which the message names with what was used and what is allowed.
    Limit(Limit),
}

const fn ends(expected: Expected) -> Coverage {
    with(&[], expected)
}

const fn with(limits: &'static [(Limit, u64)], expected: Expected) -> Coverage {
    Coverage::Call(Case {
        arguments: "{}",
        capabilities: &[],
        limits,
        expected,
    })
}

const fn reading(expected: Expected) -> Coverage {
    Coverage::Call(Case {
        arguments: "{}",
        capabilities: &[Capability::WorkspaceRead],
        limits: &[],
        expected,
    })
}

fn coverage(guest: Guest) -> Coverage {
    use Coverage::Elsewhere;
    use Expected::{Answer, Crash, Failure};
    match guest {
        Guest::Echo => ends(Answer("{}")),
        Guest::Fine => ends(Answer("fine")),
        Guest::Fail => Coverage::Call(Case {
            arguments: "conflict",
            capabilities: &[],
            limits: &[],
            expected: Failure(ToolErrorKind::Conflict, "as asked: conflict"),
        }),

        Guest::Trap => ends(Crash(&["the tool aborted"])),
        Guest::Abort => ends(Crash(&["the tool aborted", "giving up on purpose"])),
        Guest::Panic => ends(Crash(&["the tool aborted", "the guest's own words"])),
        Guest::PanicAtLength => ends(Crash(&["the tool aborted", "the very end"])),
        Guest::Exit => ends(Crash(&["exit(1)", "instead of answering"])),
        Guest::ExitZero => ends(Crash(&["exit(0)", "instead of answering"])),
        Guest::Recurse => ends(Crash(&["stack overflow"])),
        Guest::RecurseNatively => ends(Crash(&["overflowed its stack"])),

        Guest::MemoryBomb => ends(Expected::Limit(Limit::Memory)),
        Guest::MemoryAtStart => ends(Expected::Limit(Limit::Memory)),
        Guest::TableBomb => ends(Expected::Limit(Limit::Tables)),
        Guest::TableAtStart => ends(Expected::Limit(Limit::Tables)),
        Guest::Spin => with(&[(Limit::Fuel, 50_000_000)], Expected::Limit(Limit::Fuel)),
        Guest::ReportAndSpin => with(
            &[(Limit::Fuel, u64::MAX >> 1), (Limit::Deadline, 100)],
            Expected::Limit(Limit::Deadline),
        ),
        Guest::SpinAtStart => with(
            &[(Limit::Fuel, u64::MAX >> 1), (Limit::Deadline, 100)],
            Expected::Limit(Limit::Deadline),
        ),
        Guest::Sleep => with(&[(Limit::Deadline, 100)], Expected::Limit(Limit::Deadline)),
        Guest::FloodStdout => ends(Expected::Limit(Limit::Output)),
        Guest::FloodStderr => ends(Expected::Limit(Limit::Output)),
        Guest::FloodProgress => ends(Expected::Limit(Limit::Output)),
        Guest::FloodEmptyProgress => {
            with(&[(Limit::Output, 10_000)], Expected::Limit(Limit::Output))
        }
        Guest::FloodFiles => reading(Expected::Limit(Limit::Resources)),
        Guest::FloodTimers => ends(Expected::Limit(Limit::Resources)),
        Guest::FloodHostCalls => ends(Expected::Limit(Limit::HostCalls)),
        Guest::WritePastThePermit => ends(Expected::Limit(Limit::Output)),
        Guest::AnswerTooMuch => ends(Expected::Limit(Limit::Output)),
        Guest::AnswerManyParts => ends(Expected::Limit(Limit::Output)),
        Guest::FailAtLength => ends(Expected::Limit(Limit::Output)),

        Guest::AnswerBrokenText => ends(Crash(&["broke the contract", "utf-8"])),
        Guest::PointOutside => ends(Crash(&["broke the contract"])),
        Guest::AllocateOutside => ends(Crash(&["broke the contract"])),
        Guest::AskForRandomness => ends(Crash(&["exceeds limit"])),
        Guest::ReadWithoutBound => reading(Answer("12 12")),

        Guest::Plant => reading(Answer("refused")),
        Guest::SpeakToTheTerminal => ends(Answer("\u{1b}[2J\u{1b}]0;owned\u{7}\rdone\u{202e}")),

        Guest::Remember => Elsewhere(surroundings::nothing_is_left_of_an_earlier_call),
        Guest::Speak => Elsewhere(surroundings::what_a_guest_says_is_heard_where_it_belongs),
        Guest::Invocation => Elsewhere(surroundings::a_guest_is_told_what_it_was_given),
        Guest::Surroundings => Elsewhere(surroundings::a_guest_finds_nothing_of_the_process),
        Guest::Terminals => Elsewhere(surroundings::no_stream_is_a_terminal),
        Guest::Clocks => Elsewhere(surroundings::clocks_run_and_dice_roll),
        Guest::Picture => Elsewhere(surroundings::a_picture_arrives_encoded),
        Guest::KeepState => Elsewhere(state::a_table_of_operations_on_state),
        Guest::FileWork => Elsewhere(escapes::the_work_that_is_measured_is_done),
        Guest::HostilePaths => Elsewhere(escapes::hostile_arguments_are_errors_and_nothing_else),
        Guest::RunPrograms => Elsewhere(processes::a_table_of_programs_through_the_import),
        Guest::Files => Elsewhere(files::no_operation_leaves_the_workspace),
        Guest::Walk => Elsewhere(files::the_standard_library_does_not_leave_the_workspace),
        Guest::Sockets | Guest::UnknownImport | Guest::OtherVersion => {
            Elsewhere(loading::a_table_of_what_is_no_tool)
        }
        Guest::DescribeSpin | Guest::DescribeTrap | Guest::DescribeBadSchema => {
            Elsewhere(describing::a_component_that_cannot_describe_itself_is_refused)
        }
        Guest::DescribeAsBuiltIn
        | Guest::DescribeNothing
        | Guest::DescribeBadName
        | Guest::DescribeTwice
        | Guest::DescribeWrongSchema => {
            Elsewhere(describing::what_a_component_says_of_itself_is_checked)
        }
        Guest::DescribeAtRandom => Elsewhere(describing::what_is_described_first_stays),
        Guest::DescribeWhatIsGiven => Elsewhere(describing::nothing_is_given_for_it),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_guest_ends_as_expected_and_its_neighbour_does_not_notice() {
    let directory = tempfile::tempdir().expect("a directory");
    let workspace = directory.path().join("workspace");
    std::fs::create_dir(&workspace).expect("it is made");
    std::fs::write(workspace.join("note.txt"), "a small file").expect("it is written");
    for pooling in POOLING {
        let mut settings = support::settings(pooling);
        // Both allocators run the same code, so it is compiled once.
        settings.cache = Some(directory.path().join("cache"));
        let sandbox = Sandbox::new(settings).expect("the engine starts");
        let neighbour = load(&sandbox, Guest::Echo);
        let mut called = 0;
        for guest in Guest::ALL {
            if let Coverage::Call(case) = coverage(*guest) {
                let name = format!("{} (pooling {pooling})", guest.name());
                let hostile = load(&sandbox, *guest);
                let grant = grant_on(&workspace, case.capabilities, limits_of(&case));
                let outcome = beside_a_good_call(&name, &hostile, &grant, &case, &neighbour).await;
                check(&name, &case, &outcome);
                called += 1;
            }
        }
        assert!(called > 30, "only {called} guests were called");
    }
}

/// Makes the call at the same time as one of the good guest, and one more of it afterwards.
async fn beside_a_good_call(
    name: &str,
    hostile: &Component,
    grant: &Grant,
    case: &Case,
    neighbour: &Component,
) -> CallOutcome {
    hostile.ready().await.expect(name);
    let harmless = support::nothing(LIMITS);
    let beside = {
        let (neighbour, harmless) = (neighbour.clone(), harmless.clone());
        tokio::spawn(async move { call(&neighbour, &harmless, "beside").await })
    };
    let outcome = call(hostile, grant, case.arguments).await;
    assert_eq!(text(&beside.await.expect(name)), "beside", "{name}");
    let after = call(neighbour, &harmless, "after").await;
    assert_eq!(text(&after), "after", "{name}");
    outcome
}

fn limits_of(case: &Case) -> Limits {
    let mut limits = LIMITS;
    for (limit, value) in case.limits {
        limit.set(&mut limits, *value);
    }
    limits
}

fn check(name: &str, case: &Case, outcome: &CallOutcome) {
    match &case.expected {
        Expected::Answer(answer) => assert_eq!(text(outcome), *answer, "{name}"),
        Expected::Failure(kind, message) => {
            assert_eq!(failure(outcome), (*kind, *message), "{name}");
        }
        Expected::Crash(parts) => {
            let (kind, message) = failure(outcome);
            assert_eq!(kind, ToolErrorKind::Crashed, "{name}: {message}");
            for part in *parts {
                assert!(message.contains(part), "{name}: no {part:?} in {message}");
            }
            assert!(message.len() < 8 << 10, "{name}: {} bytes", message.len());
        }
        Expected::Limit(limit) => {
            let (kind, message) = failure(outcome);
            assert_eq!(kind, ToolErrorKind::LimitExceeded, "{name}: {message}");
            let allowed = limit.of(&limits_of(case));
            let used = used(message, *limit, allowed);
            assert!(
                used.is_some_and(|used| used >= allowed),
                "{name}: {message}"
            );
        }
    }
    if let Expected::Limit(Limit::Fuel) = case.expected {
        assert_eq!(outcome.stats.fuel, limits_of(case).fuel, "{name}");
    }
}

/// What the message of a limit says was used, if it names the limit and what it allows.
fn used(message: &str, limit: Limit, allowed: u64) -> Option<u64> {
    let rest = message.split_once(&format!("limit `{limit}`: used "))?.1;
    let (used, rest) = rest.split_once(" of ")?;
    let flag = limit.key().replace('_', "-");
    let names_both = rest.starts_with(&format!("{allowed} {}", limit.unit()))
        && rest.contains(&format!("--{flag}"));
    used.parse().ok().filter(|_| names_both)
}

#[test]
fn every_limit_is_reached_by_some_guest() {
    let reached = |limit: Limit| {
        Guest::ALL.iter().any(|guest| match coverage(*guest) {
            Coverage::Call(case) => matches!(case.expected, Expected::Limit(l) if l == limit),
            Coverage::Elsewhere(_) => false,
        })
    };
    for limit in Limit::ALL {
        assert!(reached(limit), "no guest reaches `{limit}`");
    }
}
