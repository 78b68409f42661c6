//! The tools as a person reads them.
//!
//! Owns what `hotcell tools` shows. It must never print.

use super::registry::{Source, Toolbox};
use crate::protocol::{Digest, ToolDefinition};

/// A tool, where it comes from and what it is by its bytes.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolListing {
    /// The tool, as its component describes it.
    pub definition: ToolDefinition,
    /// Where it comes from.
    pub source: Source,
    /// The digest of its component.
    pub digest: Digest,
}

impl Toolbox {
    /// All tools, sorted by name, whatever a policy would offer.
    pub fn list(&self) -> Vec<ToolListing> {
        self.tools
            .values()
            .map(|tool| ToolListing {
                definition: tool.definition.clone(),
                source: tool.plugin.source.clone(),
                digest: tool.plugin.digest().clone(),
            })
            .collect()
    }
}
