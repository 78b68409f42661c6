//! The component of todo_write: arguments, documentation for the model, and the stored list.
//!
//! The rules of a plan are in `plan`. It must never keep anything but through session state.

mod plan;

use hotcell_sdk::{
    Answer, Call, Capability, Deserialize, JsonSchema, StateError, Tool, ToolError, Versioned,
};
use plan::{Item, Plan};

/// Where the list is kept: JSON, an array of the items as the model gave them.
const KEY: &str = "todos";

/// How often a call starts again because another one stored a list meanwhile. Calls of one turn run
/// side by side, but a model that sends more than this many lists at once is not planning.
const ATTEMPTS: u32 = 8;

/// Keeps the plan of this session: replaces the whole list, so send every item each time, also
/// those already completed.
///
/// Use it when the work has three or more steps, when the user names several things to do, or when
/// you find new steps on the way. Do not use it for one simple step or a question.
///
/// Write the plan before you start. Mark an item `in_progress` before you work on it, only one at a
/// time, and `completed` as soon as it is done and checked, one item a call: several completed at
/// once are refused. Mark what is no longer needed `cancelled` instead of dropping it. An item is
/// known by its `content`, so keep the wording. An empty list clears the plan.
///
/// Answers with the list as it now stands.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TodoWrite {
    /// The whole list, in the order of the work.
    todos: Vec<Item>,
}

impl Tool for TodoWrite {
    const NAME: &'static str = "todo_write";
    const REQUIRES: &'static [Capability] = &[Capability::SessionState];

    fn run(self, call: &Call<'_>) -> Result<Answer, ToolError> {
        let plan = Plan::new(self.todos).map_err(ToolError::invalid_arguments)?;
        store(call, &plan)?;
        if let Some(activity) = plan.activity() {
            call.report(activity);
        }
        Ok(plan.to_string().into())
    }
}

fn store(call: &Call<'_>, plan: &Plan) -> Result<(), ToolError> {
    let value = plan.to_json();
    for _ in 0..ATTEMPTS {
        let (before, version) = match call.state_get(KEY)? {
            // A list that does not read back is replaced: it must not lock the model out.
            Some(Versioned { value, version }) => {
                (Plan::from_json(&value).unwrap_or_default(), version)
            }
            None => (Plan::default(), 0),
        };
        plan.check_after(&before)
            .map_err(ToolError::invalid_arguments)?;
        match call.state_swap(KEY, &value, version) {
            Err(StateError::Conflict) => {}
            stored => return Ok(stored.map(drop)?),
        }
    }
    Err(ToolError::conflict(
        "other calls keep replacing the list; send one todo_write at a time",
    ))
}

hotcell_sdk::export!(TodoWrite);

#[cfg(test)]
mod tests {
    use super::*;
    use hotcell_sdk::ErrorKind;
    use hotcell_sdk::testing::{MockHost, assert_definitions_match, json};

    #[test]
    fn the_list_is_replaced_kept_and_cleared() {
        let host = MockHost::new("unused");
        let write = |todos| {
            host.call::<TodoWrite>(json!({ "todos": todos }))
                .map(|answer| answer.to_text())
        };
        assert_eq!(
            write(json!([
                { "content": "find the bug", "status": "in_progress", "active_form": "Finding the bug" },
                { "content": "fix it", "status": "pending" },
            ])),
            Ok("[>] find the bug\n[ ] fix it\n0 of 2 completed".to_owned())
        );
        assert_eq!(
            write(json!([
                { "content": "find the bug", "status": "completed" },
                { "content": "fix it", "status": "in_progress" },
                { "content": "tell the user", "status": "cancelled", "active_form": null },
            ])),
            Ok(
                "[x] find the bug\n[>] fix it\n[-] tell the user\n1 of 2 completed, 1 cancelled"
                    .to_owned()
            )
        );
        assert_eq!(host.reports(), ["Finding the bug", "fix it"]);
        assert_eq!(write(json!([])), Ok("the plan is empty".to_owned()));
        assert_eq!(host.state(KEY), Some(b"[]".to_vec()));
    }

    #[test]
    fn a_refused_list_leaves_the_old_one() {
        let host = MockHost::new("unused");
        let todos = json!({ "todos": [{ "content": "a", "status": "pending" }, { "content": "b", "status": "pending" }] });
        host.call::<TodoWrite>(todos).expect("stored");
        let before = host.state(KEY);
        let done = json!({ "todos": [{ "content": "a", "status": "completed" }, { "content": "b", "status": "completed" }] });
        let error = host.call::<TodoWrite>(done).expect_err("refused");
        assert_eq!(error.kind(), ErrorKind::InvalidArguments);
        assert_eq!(host.state(KEY), before);
    }

    #[test]
    fn a_damaged_list_is_replaced() {
        let host = MockHost::new("unused");
        host.set_state(KEY, "{not json");
        host.call::<TodoWrite>(json!({ "todos": [{ "content": "a", "status": "pending" }] }))
            .expect("stored");
        assert_eq!(
            host.state(KEY).as_deref(),
            Some(br#"[{"content":"a","status":"pending"}]"#.as_slice())
        );
    }

    #[test]
    fn the_model_reads_what_was_reviewed() {
        assert_definitions_match(
            concat!(env!("CARGO_MANIFEST_DIR"), "/definitions.json"),
            &[hotcell_sdk::definition::<TodoWrite>()],
        );
    }
}
