//! Where and when the run takes place. Last, since the date changes most.

use crate::prompt::Surroundings;

pub(in crate::prompt) fn surroundings(surroundings: &Surroundings) -> String {
    let Surroundings {
        workspace,
        platform,
        date,
    } = surroundings;
    format!("# Where you are\n- Workspace: {workspace}\n- Platform: {platform}\n- Date: {date}")
}
