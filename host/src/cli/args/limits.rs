//! The flags for the limits of a call.
//!
//! Owns one flag a limit, with its default in the help: a table, kept in the order of the README's.

use crate::config::{Flags, InvalidQuantity, parse_limit};
use crate::protocol::Limit;
use clap::Args;

#[derive(Debug, Args)]
#[command(next_help_heading = "Limits of each tool call")]
pub(super) struct LimitArgs {
    /// CPU work, about one a WebAssembly instruction [default: 200G]
    #[arg(long, value_name = "N", value_parser = limit(Limit::Fuel))]
    fuel: Option<u64>,
    /// Wall clock, also while it waits [default: 2min]
    #[arg(long, value_name = "MS", value_parser = limit(Limit::Deadline))]
    deadline_ms: Option<u64>,
    /// Linear memory [default: 512MiB]
    #[arg(long, value_name = "BYTES", value_parser = limit(Limit::Memory))]
    memory_bytes: Option<u64>,
    /// Table elements [default: 200k]
    #[arg(long, value_name = "N", value_parser = limit(Limit::Tables))]
    table_elements: Option<u64>,
    /// Files, streams and other handles open at once [default: 1024]
    #[arg(long, value_name = "N", value_parser = limit(Limit::Resources))]
    resources: Option<u64>,
    /// Calls from the tool into the host [default: 200M]
    #[arg(long, value_name = "N", value_parser = limit(Limit::HostCalls))]
    host_calls: Option<u64>,
    /// Its result and its standard output, each [default: 16MiB]
    #[arg(long, value_name = "BYTES", value_parser = limit(Limit::Output))]
    output_bytes: Option<u64>,
}

impl LimitArgs {
    pub(super) fn add_to(&self, flags: &mut Flags) {
        flags.limits = Limit::ALL
            .into_iter()
            .filter_map(|limit| {
                let value = match limit {
                    Limit::Fuel => self.fuel,
                    Limit::Deadline => self.deadline_ms,
                    Limit::Memory => self.memory_bytes,
                    Limit::Tables => self.table_elements,
                    Limit::Resources => self.resources,
                    Limit::HostCalls => self.host_calls,
                    Limit::Output => self.output_bytes,
                };
                value.map(|value| (limit, value))
            })
            .collect();
    }
}

fn limit(limit: Limit) -> impl Fn(&str) -> Result<u64, InvalidQuantity> + Clone {
    move |text| parse_limit(limit, text)
}
