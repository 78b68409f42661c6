//! The settings of what bounds a run and what it is reminded of: the table `[run]`, and `[prices]`.
//!
//! Owns their keys, defaults and how each is written. Apart from the limits of a call, which other
//! code counts. It must never know what a model is called by its vendor beyond the user's own words.

use super::origin::Sourced;
use super::quantity::{parse_count, parse_dollars, parse_plain, parse_time};
use super::raw::Raw;
use super::{ConfigError, Origin};
use crate::protocol::{Cost, Price, Reminders, RunLimits};
use std::collections::BTreeMap;
use std::time::Duration;

/// One key of `[run]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum GuardKey {
    /// `max_time_ms`
    Time,
    /// `max_tokens`
    Tokens,
    /// `max_fuel`
    Fuel,
    /// `max_cost`
    Cost,
    /// `max_repeats`
    Repeats,
    /// `remind_repetition`
    RemindRepetition,
    /// `remind_stall`
    RemindStall,
    /// `remind_closing`
    RemindClosing,
    /// `remind_planning`
    RemindPlanning,
    /// `remind_memory`
    RemindMemory,
}

impl GuardKey {
    /// Every key.
    pub const ALL: [GuardKey; 10] = [
        GuardKey::Time,
        GuardKey::Tokens,
        GuardKey::Fuel,
        GuardKey::Cost,
        GuardKey::Repeats,
        GuardKey::RemindRepetition,
        GuardKey::RemindStall,
        GuardKey::RemindClosing,
        GuardKey::RemindPlanning,
        GuardKey::RemindMemory,
    ];

    /// Whether it ends a run; the others only remind.
    pub(super) const fn is_limit(self) -> bool {
        matches!(
            self,
            GuardKey::Time | GuardKey::Tokens | GuardKey::Fuel | GuardKey::Cost | GuardKey::Repeats
        )
    }

    fn parse(self, text: &str) -> Result<u64, String> {
        const DAY: u64 = 24 * 60 * 60 * 1000;
        let parsed = match self {
            GuardKey::Time => parse_time(text, 0, 365 * DAY),
            GuardKey::Tokens | GuardKey::Fuel => parse_plain(text, 0, i64::MAX as u64),
            GuardKey::Cost => parse_dollars(text),
            _ => parse_count(text, 0, u32::MAX.into()),
        };
        parsed.map_err(|error| format!("is wrong: {error}"))
    }

    const fn default(self) -> u64 {
        match self {
            GuardKey::Time | GuardKey::Tokens | GuardKey::Fuel | GuardKey::Cost => 0,
            // Past the reminder, and far before somebody pays for it.
            GuardKey::Repeats => 8,
            GuardKey::RemindRepetition => 3,
            GuardKey::RemindStall => 12,
            GuardKey::RemindClosing => 3,
            GuardKey::RemindPlanning => 8,
            GuardKey::RemindMemory => 20,
        }
    }
}

/// What one source asks for.
#[derive(Debug, Clone, Default)]
pub(super) struct GuardLayer {
    values: BTreeMap<GuardKey, Sourced<u64>>,
    prices: BTreeMap<String, Price>,
}

impl GuardLayer {
    pub(super) fn set(&mut self, key: GuardKey, raw: Raw, origin: Origin) -> Result<(), String> {
        let value = key.parse(&raw.number()?)?;
        self.values.insert(key, Sourced { value, origin });
        Ok(())
    }

    /// Sets one part of the price of `model`, in dollars a million tokens.
    pub(super) fn set_price(&mut self, model: &str, part: &str, raw: Raw) -> Result<(), String> {
        let price = self.prices.entry(model.to_owned()).or_default();
        let slot = match part {
            "input" => &mut price.input,
            "output" => &mut price.output,
            "cache_read" => &mut price.cache_read,
            "cache_write" => &mut price.cache_write,
            _ => return Err("takes input, output, cache_read and cache_write".to_owned()),
        };
        let dollars =
            parse_dollars(&raw.number()?).map_err(|error| format!("is wrong: {error}"))?;
        *slot = Cost(dollars);
        Ok(())
    }
}

/// What all sources come to.
#[derive(Debug, Clone)]
pub(super) struct GuardTable {
    values: BTreeMap<GuardKey, Sourced<u64>>,
    prices: BTreeMap<String, Price>,
}

impl Default for GuardTable {
    fn default() -> Self {
        let values = GuardKey::ALL.map(|key| (key, Sourced::default(key.default())));
        GuardTable {
            values: values.into(),
            prices: BTreeMap::new(),
        }
    }
}

impl GuardTable {
    pub(super) fn apply(&mut self, layer: GuardLayer) {
        self.values.extend(layer.values);
        self.prices.extend(layer.prices);
    }

    /// What stands, for people.
    pub(super) fn shown(&self, key: GuardKey) -> (String, &Origin) {
        let sourced = &self.values[&key];
        let text = match key {
            GuardKey::Cost if sourced.value > 0 => Cost(sourced.value).to_string(),
            _ => sourced.value.to_string(),
        };
        (text, &sourced.origin)
    }

    /// The models that have a price, for people.
    pub(super) fn shown_prices(&self) -> String {
        self.prices.keys().cloned().collect::<Vec<_>>().join(", ")
    }

    /// Whether `key` allows more here than in `standing`. No limit is more than any limit, and what
    /// a person is reminded of is no limit: a workspace has no say in it.
    pub(super) fn is_looser(&self, key: GuardKey, standing: &GuardTable) -> bool {
        let value = |table: &GuardTable| match table.value(key) {
            0 => u64::MAX,
            value => value,
        };
        !key.is_limit() || value(self) > value(standing)
    }

    fn value(&self, key: GuardKey) -> u64 {
        self.values[&key].value
    }

    fn count(&self, key: GuardKey) -> u32 {
        u32::try_from(self.value(key)).unwrap_or(u32::MAX)
    }

    /// The limits of a run with `model`, and its most `turns`.
    pub(super) fn limits(&self, turns: u32, model: Option<&str>) -> Result<RunLimits, ConfigError> {
        let cost = Cost(self.value(GuardKey::Cost));
        let price = model.and_then(|model| self.prices.get(model)).copied();
        if cost > Cost(0)
            && price.is_none()
            && let Some(model) = model
        {
            return Err(ConfigError::NoPrice {
                origin: self.values[&GuardKey::Cost].origin.clone(),
                model: model.to_owned(),
            });
        }
        Ok(RunLimits {
            turns,
            time: Duration::from_millis(self.value(GuardKey::Time)),
            tokens: self.value(GuardKey::Tokens),
            fuel: self.value(GuardKey::Fuel),
            cost,
            price: price.unwrap_or_default(),
            repeats: self.count(GuardKey::Repeats),
        })
    }

    pub(super) fn reminders(&self) -> Reminders {
        Reminders {
            repetition: self.count(GuardKey::RemindRepetition),
            stall: self.count(GuardKey::RemindStall),
            closing: self.count(GuardKey::RemindClosing),
            planning: self.count(GuardKey::RemindPlanning),
            memory: self.count(GuardKey::RemindMemory),
        }
    }
}
