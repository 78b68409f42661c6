//! The rule for the workspace's own `hotcell.toml`: it may only tighten.
//!
//! A cloned repository is not its reader's friend. Its file can ask for less than what stands and
//! for nothing else; whatever else is in it is an error that names the key, never a silent
//! "ignored", so that nobody believes in a setting that does nothing.

use super::ConfigError;
use super::layer::{Layer, Settings};
use super::setting::Setting;
use crate::protocol::Limit;
use std::path::Path;

/// Checks what a workspace asks for against what stands without it.
pub(super) fn check(
    standing: &Settings,
    workspace: &Layer,
    user_file: Option<&Path>,
) -> Result<(), ConfigError> {
    let user_file = user_file.map_or_else(
        || "the user's hotcell.toml".to_owned(),
        |file| file.display().to_string(),
    );
    let mut asked = standing.clone();
    asked.apply(workspace.clone());
    for (setting, origin) in &workspace.assigned {
        let row = setting.row();
        if !row.workspace_may_tighten() {
            let flag = match row.flag {
                "" => row.variable(),
                flag => flag.to_owned(),
            };
            return Err(ConfigError::NotForWorkspaces {
                origin: origin.clone(),
                key: row.key.to_owned(),
                user_file,
                flag,
            });
        }
        if is_looser(*setting, &asked, standing) {
            let (standing, standing_origin) = standing.shown(*setting);
            return Err(ConfigError::Looser {
                origin: origin.clone(),
                key: row.key.to_owned(),
                asked: asked.shown(*setting).0,
                standing: if standing.is_empty() {
                    "none".to_owned()
                } else {
                    standing
                },
                standing_origin: standing_origin.clone(),
                user_file,
            });
        }
    }
    Ok(())
}

fn is_looser(setting: Setting, asked: &Settings, standing: &Settings) -> bool {
    /// No limit is more than any limit.
    fn turns(settings: &Settings) -> u64 {
        match settings.max_turns.value {
            0 => u64::MAX,
            turns => u64::from(turns),
        }
    }
    fn of(limit: Limit, settings: &Settings) -> u64 {
        limit.of(&settings.limits)
    }
    match setting {
        Setting::Limit(limit) => of(limit, asked) > of(limit, standing),
        Setting::MaxTurns => turns(asked) > turns(standing),
        Setting::MaxParallelCalls => {
            asked.max_parallel_calls.value > standing.max_parallel_calls.value
        }
        Setting::Capabilities => !standing
            .capabilities
            .value
            .contains_all(asked.capabilities.value),
        Setting::Plan => standing.plan.value && !asked.plan.value,
        // These only add.
        Setting::Masked | Setting::Protected => false,
        Setting::Guard(key) => asked.guards.is_looser(key, &standing.guards),
        Setting::Process(key) => asked.process.is_looser(key, &standing.process),
        // Not for workspaces at all; unknown means refuse.
        _ => true,
    }
}
