//! A plan: its items, what makes it a plan one can work by, and how it is shown.
//!
//! Owns the rules that keep a model honest about its progress. It must never know where a plan is
//! stored.

use hotcell_sdk::{Deserialize, JsonSchema};
use serde::Serialize;
use std::collections::{HashMap, HashSet};
use std::fmt;

/// A longer list is no plan any more, and the host shows it to the model in every request.
const MAX_ITEMS: usize = 100;
/// Characters an item: a line or two.
const MAX_CONTENT: usize = 500;

/// One step of the plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Item {
    /// What to do, in the imperative: `run the tests`. The items of a list all differ.
    pub content: String,
    pub status: Status,
    /// The same while it is being done, shown to the user: `running the tests`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active_form: Option<String>,
}

/// Where a step stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    Pending,
    InProgress,
    Completed,
    Cancelled,
}

impl Status {
    const fn mark(self) -> &'static str {
        match self {
            Status::Pending => "[ ]",
            Status::InProgress => "[>]",
            Status::Completed => "[x]",
            Status::Cancelled => "[-]",
        }
    }
}

/// A list that keeps the rules.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Plan {
    items: Vec<Item>,
}

impl Plan {
    /// Takes the items if they make a plan; otherwise says which rule they break and where.
    pub fn new(mut items: Vec<Item>) -> Result<Self, String> {
        if items.len() > MAX_ITEMS {
            return Err(format!(
                "{} items are more than the {MAX_ITEMS} of a plan; join small steps",
                items.len()
            ));
        }
        let mut seen = HashSet::new();
        for (index, item) in items.iter_mut().enumerate() {
            item.content = one_line(&item.content);
            item.active_form = item
                .active_form
                .as_deref()
                .map(one_line)
                .filter(|form| !form.is_empty());
            let length = item.content.chars().count();
            if length == 0 {
                return Err(format!("`todos[{index}].content` is blank; say what to do"));
            }
            if length > MAX_CONTENT {
                return Err(format!(
                    "`todos[{index}].content` has {length} characters, over the {MAX_CONTENT} of \
                     an item; keep the details elsewhere"
                ));
            }
            if !seen.insert(item.content.clone()) {
                return Err(format!(
                    "`todos[{index}].content` says `{}` like an item before it; items are known by \
                     their content, so make each differ",
                    item.content
                ));
            }
        }
        let plan = Plan { items };
        let active = plan.with_status(Status::InProgress);
        if active.len() > 1 {
            return Err(format!(
                "{} items are in_progress ({}); at most one can be: leave the others pending",
                active.len(),
                quote(&active)
            ));
        }
        Ok(plan)
    }

    /// Whether one can get here from `before` by honest work.
    ///
    /// Completing one item at a time is that. When more become completed in one step, each must
    /// have been in progress before, which at most one can have been: so the others are named and
    /// the model is told to go through them. This is what keeps a model from ticking off a whole
    /// plan at the end without having checked any of it.
    pub fn check_after(&self, before: &Plan) -> Result<(), String> {
        let earlier: HashMap<&str, Status> = before
            .items
            .iter()
            .map(|item| (item.content.as_str(), item.status))
            .collect();
        let status_before = |content: &str| earlier.get(content).copied();
        let newly: Vec<&str> = self
            .with_status(Status::Completed)
            .into_iter()
            .filter(|content| status_before(content) != Some(Status::Completed))
            .collect();
        let skipped: Vec<&str> = newly
            .iter()
            .copied()
            .filter(|content| status_before(content) != Some(Status::InProgress))
            .collect();
        if newly.len() < 2 || skipped.is_empty() {
            return Ok(());
        }
        Err(format!(
            "{} items become completed in one call, and these were not in_progress before: {}; \
             complete one item a call (mark it in_progress, do it, check it, mark it completed), \
             and mark what is no longer needed cancelled; the list is unchanged",
            newly.len(),
            quote(&skipped)
        ))
    }

    /// What the user may see of the step in progress.
    pub fn activity(&self) -> Option<&str> {
        let item = self
            .items
            .iter()
            .find(|item| item.status == Status::InProgress)?;
        Some(item.active_form.as_deref().unwrap_or(&item.content))
    }

    /// The form in which the list is stored.
    pub fn to_json(&self) -> Vec<u8> {
        serde_json::to_vec(&self.items).expect("strings and names of an enum always serialise")
    }

    /// The stored list, or nothing when it is damaged.
    pub fn from_json(json: &[u8]) -> Option<Self> {
        let items = serde_json::from_slice(json).ok()?;
        Some(Plan { items })
    }

    fn with_status(&self, status: Status) -> Vec<&str> {
        self.items
            .iter()
            .filter(|item| item.status == status)
            .map(|item| item.content.as_str())
            .collect()
    }
}

/// The list, one item a line, and how far it got.
impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.items.is_empty() {
            return f.write_str("the plan is empty");
        }
        for item in &self.items {
            writeln!(f, "{} {}", item.status.mark(), item.content)?;
        }
        let completed = self.with_status(Status::Completed).len();
        let cancelled = self.with_status(Status::Cancelled).len();
        write!(
            f,
            "{completed} of {} completed",
            self.items.len() - cancelled
        )?;
        if cancelled > 0 {
            write!(f, ", {cancelled} cancelled")?;
        }
        Ok(())
    }
}

/// White space of any kind becomes one space: an item is one line wherever it is shown.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn quote(contents: &[&str]) -> String {
    let quoted: Vec<String> = contents
        .iter()
        .map(|content| format!("`{content}`"))
        .collect();
    quoted.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `> a` is an item `a` in progress; the marks are those of the rendered list.
    fn items(lines: &[&str]) -> Vec<Item> {
        lines
            .iter()
            .map(|line| {
                let (mark, content) = line.split_at(1);
                Item {
                    content: content.to_owned(),
                    status: match mark {
                        ">" => Status::InProgress,
                        "x" => Status::Completed,
                        "-" => Status::Cancelled,
                        _ => Status::Pending,
                    },
                    active_form: None,
                }
            })
            .collect()
    }

    fn plan(lines: &[&str]) -> Plan {
        Plan::new(items(lines)).expect("a plan")
    }

    #[test]
    fn a_list_that_is_no_plan_is_refused_by_rule() {
        let long = format!("  {}", "y".repeat(MAX_CONTENT + 1));
        let many: Vec<String> = (0..=MAX_ITEMS).map(|n| format!("  {n}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        let table: [(&[&str], &str); 5] = [
            (&["> a", "> b", "  c"], "2 items are in_progress (`a`, `b`)"),
            (&["  a", "  \t\n "], "`todos[1].content` is blank"),
            (&["  a b", "x a  b"], "`todos[1].content` says `a b`"),
            (&[&long], "501 characters"),
            (&many, "101 items"),
        ];
        for (lines, message) in table {
            let error = Plan::new(items(lines)).expect_err(message);
            assert!(error.contains(message), "{error}");
        }
    }

    #[test]
    fn completions_are_taken_one_at_a_time() {
        type Lines<'a> = &'a [&'a str];
        let table: [(Lines<'_>, Lines<'_>, Option<&str>); 9] = [
            (&[], &["  a", "> b"], None),
            // One may be completed without having been in progress: it is a small step.
            (&["  a", "  b"], &["x a", "  b"], None),
            (&["> a", "  b"], &["x a", "> b"], None),
            (&["x a", "> b"], &["x a", "x b"], None),
            (
                &["> a", "  b"],
                &["x a", "x b"],
                Some("not in_progress before: `b`;"),
            ),
            (&["  a", "  b"], &["x a", "x b"], Some("before: `a`, `b`;")),
            (&[], &["x a", "x b", "  c"], Some("before: `a`, `b`;")),
            // What is cancelled was not done, and needs no proof.
            (&["> a", "  b", "  c"], &["x a", "- b", "- c"], None),
            (&["x a", "x b"], &[], None),
        ];
        for (before, after, refused) in table {
            let result = plan(after).check_after(&plan(before));
            match (&result, refused) {
                (Ok(()), None) => {}
                (Err(error), Some(part)) if error.contains(part) => {}
                _ => panic!("{before:?} -> {after:?}: {result:?}"),
            }
        }
    }

    #[test]
    fn what_is_stored_reads_back() {
        let mut given = items(&["> a", "x b", "- c", "  d"]);
        given[0].active_form = Some("doing a".to_owned());
        let plan = Plan::new(given).expect("a plan");
        assert_eq!(Plan::from_json(&plan.to_json()), Some(plan.clone()));
        assert_eq!(plan.activity(), Some("doing a"));
    }
}
