//! What ends a run that goes on too long, and what it is reminded of before.
//!
//! Owns counting: turns, time, tokens, fuel, cost, and calls that are made again and again. It
//! decides between turns and from counts alone; it must never look at what a call or an answer is
//! about. Reminders go into the outgoing request and are never stored.

use crate::protocol::{Cost, DoneReason, Reminders, RunLimits, ToolCall, Usage};
use serde_json::Value;
use std::collections::HashMap;

/// The tool whose calls are a plan.
const PLANNING_TOOL: &str = "todo_write";

/// What a turn did, as far as it counts.
#[derive(Debug, Default)]
pub(super) struct Deeds<'a> {
    /// The calls, in order.
    pub(super) calls: &'a [ToolCall],
    /// Whether any of them changed the workspace.
    pub(super) has_changed: bool,
    /// Fuel that they used.
    pub(super) fuel: u64,
    /// Tokens of the turn.
    pub(super) usage: Usage,
}

/// The counts of a run.
#[derive(Debug)]
pub(super) struct Guards {
    limits: RunLimits,
    reminders: Reminders,
    turns: u32,
    tokens: u64,
    fuel: u64,
    cost: Cost,
    /// Calls by name and canonical arguments, since the workspace changed last.
    repeated: HashMap<(String, String), u32>,
    /// The most repeated call of the last turn, if it is due for a reminder.
    repeating: Option<(String, u32)>,
    turns_without_change: u32,
    turns_without_plan: u32,
    told_of_closing: bool,
    told_of_planning: bool,
}

impl Guards {
    pub(super) fn new(limits: RunLimits, reminders: Reminders) -> Self {
        Guards {
            limits,
            reminders,
            turns: 0,
            tokens: 0,
            fuel: 0,
            cost: Cost::default(),
            repeated: HashMap::new(),
            repeating: None,
            turns_without_change: 0,
            turns_without_plan: 0,
            told_of_closing: false,
            told_of_planning: false,
        }
    }

    /// What the tokens so far cost.
    pub(super) const fn cost(&self) -> Cost {
        self.cost
    }

    /// Counts a turn that is over.
    pub(super) fn count(&mut self, deeds: &Deeds<'_>) {
        self.turns += 1;
        let Usage {
            input_tokens,
            output_tokens,
            ..
        } = deeds.usage;
        self.tokens = self
            .tokens
            .saturating_add(input_tokens)
            .saturating_add(output_tokens);
        self.fuel = self.fuel.saturating_add(deeds.fuel);
        self.cost += self.limits.price.of(deeds.usage);
        self.repeating = None;
        if deeds.has_changed {
            self.repeated.clear();
            self.turns_without_change = 0;
        } else {
            self.turns_without_change += 1;
            self.count_repeats(deeds.calls);
        }
        if deeds.has_changed || deeds.calls.iter().any(|call| call.name == PLANNING_TOOL) {
            self.turns_without_plan = 0;
        } else {
            self.turns_without_plan += 1;
        }
    }

    fn count_repeats(&mut self, calls: &[ToolCall]) {
        for call in calls {
            let key = (call.name.clone(), canonical(&call.arguments));
            let times = self.repeated.entry(key).or_default();
            *times += 1;
            let most = self.repeating.as_ref().map_or(0, |(_, most)| *most);
            if *times > most {
                self.repeating = Some((call.name.clone(), *times));
            }
        }
    }

    /// Why the run ends before its next turn, if it does.
    pub(super) fn stop(&self) -> Option<DoneReason> {
        let limits = &self.limits;
        let repeats = self.repeating.as_ref().map_or(0, |(_, times)| *times);
        let reached = |used: u64, limit: u64| limit > 0 && used >= limit;
        [
            (
                reached(repeats.into(), limits.repeats.into()),
                DoneReason::Repetition,
            ),
            (
                reached(self.turns.into(), limits.turns.into()),
                DoneReason::MaxTurns,
            ),
            (reached(self.tokens, limits.tokens), DoneReason::MaxTokens),
            (reached(self.fuel, limits.fuel), DoneReason::MaxFuel),
            (reached(self.cost.0, limits.cost.0), DoneReason::MaxCost),
        ]
        .into_iter()
        .find_map(|(is_reached, reason)| is_reached.then_some(reason))
    }

    /// What the model is reminded of in the next turn: one thing, the most urgent.
    pub(super) fn reminder(&mut self) -> Option<String> {
        let due = |count: u32, when: u32| when > 0 && count > 0 && count.is_multiple_of(when);
        let Reminders {
            repetition,
            stall,
            closing,
            planning,
            memory,
        } = self.reminders;
        if let Some((name, times)) = &self.repeating
            && repetition > 0
            && *times >= repetition
        {
            let end = match self.limits.repeats {
                0 => String::new(),
                limit => format!(" After {limit} times the run is ended."),
            };
            return Some(format!(
                "You called `{name}` with the same arguments {times} times and nothing in the workspace has changed since, \
                 so it answers the same again. Do something else: other arguments, another tool, or say what keeps you.{end}"
            ));
        }
        if due(self.turns_without_change, stall) {
            return Some(format!(
                "{} turns have passed without a change in the workspace. If the task needs one, make it now; \
                 if you know enough, answer; if something is in the way, say what.",
                self.turns_without_change
            ));
        }
        let left = self.limits.turns.saturating_sub(self.turns);
        if closing > 0 && self.limits.turns > closing && left <= closing && !self.told_of_closing {
            self.told_of_closing = true;
            return Some(format!(
                "{left} turns are left in this run. Finish what you are at, and give your answer: what is done, and what is not."
            ));
        }
        if due(self.turns_without_plan, planning) && !self.told_of_planning {
            self.told_of_planning = true;
            return Some(format!(
                "{} turns have passed without a plan. If there is more than one step ahead, write them down with {PLANNING_TOOL}.",
                self.turns_without_plan
            ));
        }
        if due(self.turns, memory) {
            return Some(
                "Early results may be dropped from what you see when the conversation grows. Write down what you still need: \
                 open steps in the to-do list, findings in your next answer."
                    .to_owned(),
            );
        }
        None
    }
}

/// One text for arguments that mean the same: the order of keys does not matter.
fn canonical(arguments: &Value) -> String {
    let mut sorted = arguments.clone();
    sorted.sort_all_objects();
    sorted.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::Price;
    use serde_json::json;
    use std::time::Duration;

    const FREE: RunLimits = RunLimits {
        turns: 0,
        time: Duration::ZERO,
        tokens: 0,
        fuel: 0,
        cost: Cost(0),
        price: Price {
            input: Cost(1_000_000),
            output: Cost(2_000_000),
            cache_read: Cost(0),
            cache_write: Cost(0),
        },
        repeats: 0,
    };

    fn call(name: &str, arguments: Value) -> ToolCall {
        ToolCall {
            id: "a".to_owned(),
            name: name.to_owned(),
            arguments,
            malformed: None,
        }
    }

    fn usage(input_tokens: u64, output_tokens: u64) -> Usage {
        Usage {
            input_tokens,
            output_tokens,
            ..Usage::default()
        }
    }

    /// The first turn after which a run of such turns ends, and why.
    fn ends(limits: RunLimits, deeds: &Deeds<'_>) -> Option<(u32, DoneReason)> {
        let mut guards = Guards::new(limits, Reminders::NEVER);
        (1..=100).find_map(|turn| {
            guards.count(deeds);
            Some((turn, guards.stop()?))
        })
    }

    #[test]
    fn each_limit_ends_a_run_with_its_own_reason() {
        let look = [call("read_file", json!({"path": "a"}))];
        let deeds = Deeds {
            calls: &look,
            has_changed: false,
            fuel: 100,
            usage: usage(10, 5),
        };
        for (limits, expected) in [
            (FREE, None),
            (
                RunLimits { turns: 7, ..FREE },
                Some((7, DoneReason::MaxTurns)),
            ),
            (
                RunLimits { tokens: 31, ..FREE },
                Some((3, DoneReason::MaxTokens)),
            ),
            (
                RunLimits { fuel: 400, ..FREE },
                Some((4, DoneReason::MaxFuel)),
            ),
            (
                RunLimits {
                    cost: Cost(41),
                    ..FREE
                },
                Some((3, DoneReason::MaxCost)),
            ),
            (
                RunLimits { repeats: 6, ..FREE },
                Some((6, DoneReason::Repetition)),
            ),
        ] {
            assert_eq!(ends(limits, &deeds), expected, "{limits:?}");
        }
    }

    #[test]
    fn only_the_same_call_with_nothing_changed_is_a_repetition() {
        let limits = RunLimits { repeats: 3, ..FREE };
        let mut guards = Guards::new(limits, Reminders::NEVER);
        let mut turn = |calls: &[ToolCall], has_changed| {
            guards.count(&Deeds {
                calls,
                has_changed,
                ..Deeds::default()
            });
            guards.stop()
        };
        for number in 0..50 {
            let other = [call("bash", json!({"command": format!("ls {number}")}))];
            assert_eq!(turn(&other, false), None, "varying arguments never trip it");
        }
        let one = [call("bash", json!({"command": "make", "timeout_secs": 5}))];
        let turned = [call("bash", json!({"timeout_secs": 5, "command": "make"}))];
        assert_eq!(turn(&one, false), None);
        assert_eq!(turn(&turned, false), None);
        assert_eq!(turn(&[], true), None, "a change begins anew");
        assert_eq!(turn(&one, false), None);
        assert_eq!(turn(&turned, false), None);
        assert_eq!(turn(&one, false), Some(DoneReason::Repetition));
    }

    #[test]
    fn a_repetition_is_told_before_it_ends_the_run() {
        let limits = RunLimits { repeats: 5, ..FREE };
        let reminders = Reminders {
            repetition: 3,
            ..Reminders::NEVER
        };
        let mut guards = Guards::new(limits, reminders);
        let same = [call("glob", json!({"pattern": "*"}))];
        let mut told = Vec::new();
        while guards.stop().is_none() {
            guards.count(&Deeds {
                calls: &same,
                ..Deeds::default()
            });
            told.push(guards.reminder());
        }
        assert_eq!(told.len(), 5);
        assert_eq!((&told[0], &told[1]), (&None, &None));
        let text = told[2].as_deref().unwrap_or_default();
        assert!(
            text.contains("`glob`") && text.contains("3 times") && text.contains("After 5"),
            "{text}"
        );
    }

    /// The turns after which something is told, and the first words of it.
    fn told(
        limits: RunLimits,
        reminders: Reminders,
        turns: u32,
        plans_at: u32,
    ) -> Vec<(u32, String)> {
        let mut guards = Guards::new(limits, reminders);
        (1..=turns)
            .filter_map(|turn| {
                let name = if turn == plans_at {
                    PLANNING_TOOL
                } else {
                    "grep"
                };
                let calls = [call(name, json!({"turn": turn}))];
                guards.count(&Deeds {
                    calls: &calls,
                    ..Deeds::default()
                });
                let text = guards.reminder()?;
                Some((
                    turn,
                    text.split_whitespace()
                        .take(2)
                        .collect::<Vec<_>>()
                        .join(" "),
                ))
            })
            .collect()
    }

    #[test]
    fn each_reminder_comes_when_it_is_due_and_zero_switches_it_off() {
        let at = |found: &[(u32, String)]| found.iter().map(|(turn, _)| *turn).collect::<Vec<_>>();
        let never = Reminders::NEVER;
        assert_eq!(told(FREE, never, 60, 0), []);
        let stall = Reminders { stall: 5, ..never };
        assert_eq!(at(&told(FREE, stall, 12, 0)), [5, 10]);
        let closing = Reminders {
            closing: 3,
            ..never
        };
        let limited = RunLimits { turns: 10, ..FREE };
        assert_eq!(at(&told(limited, closing, 10, 0)), [7], "once");
        assert_eq!(
            at(&told(FREE, closing, 30, 0)),
            Vec::<u32>::new(),
            "without a limit nothing closes"
        );
        let planning = Reminders {
            planning: 4,
            ..never
        };
        assert_eq!(at(&told(FREE, planning, 30, 0)), [4], "once");
        assert_eq!(at(&told(FREE, planning, 30, 3)), [7]);
        let memory = Reminders {
            memory: 10,
            ..never
        };
        assert_eq!(at(&told(FREE, memory, 25, 0)), [10, 20]);
    }

    #[test]
    fn one_reminder_a_turn_the_most_urgent_first() {
        let all = Reminders {
            repetition: 3,
            stall: 4,
            closing: 4,
            planning: 4,
            memory: 4,
        };
        let limited = RunLimits { turns: 8, ..FREE };
        let words: Vec<String> = told(limited, all, 8, 0)
            .into_iter()
            .map(|(turn, words)| format!("{turn} {words}"))
            .collect();
        assert_eq!(words, ["4 4 turns", "5 3 turns", "8 8 turns"]);
    }
}
