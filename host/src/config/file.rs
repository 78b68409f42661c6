//! Reads one `hotcell.toml` into a layer, with the line of every value.
//!
//! A file of the workspace may be hostile: only regular files of modest size are read, and no
//! message repeats a line of the file.

use super::error::nearest;
use super::layer::Layer;
use super::raw::{Base, Raw};
use super::setting::{ROWS, Row, Setting};
use super::{ConfigError, Origin};
use std::io::Read;
use std::ops::Range;
use std::path::Path;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The most bytes a settings file may have.
const MOST_BYTES: u64 = 1 << 20;

/// The tables that there are.
const TABLES: [&str; 5] = ["limits", "process", "run", "sessions", PRICES];

/// The one that has tables of its own, one a model.
const PRICES: &str = "prices";

/// Reads `file` if it exists.
pub(super) fn layer(file: &Path, home: Option<&Path>) -> Result<Option<Layer>, ConfigError> {
    match file.symlink_metadata() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        _ => {}
    }
    let text = read_limited(file)?;
    parse(file, &text, home).map(Some)
}

/// The text of a regular file.
pub(super) fn read_limited(file: &Path) -> Result<String, ConfigError> {
    let unreadable = |why: String| ConfigError::Unreadable {
        file: file.to_owned(),
        why,
    };
    let metadata = file
        .metadata()
        .map_err(|error| unreadable(error.to_string()))?;
    if !metadata.is_file() {
        return Err(unreadable("it is not a regular file".to_owned()));
    }
    let mut bytes = Vec::new();
    std::fs::File::open(file)
        .and_then(|open| open.take(MOST_BYTES + 1).read_to_end(&mut bytes))
        .map_err(|error| unreadable(error.to_string()))?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(unreadable(format!("it has more than {MOST_BYTES} bytes")));
    }
    String::from_utf8(bytes).map_err(|_| unreadable("it is not UTF-8 text".to_owned()))
}

fn parse(file: &Path, text: &str, home: Option<&Path>) -> Result<Layer, ConfigError> {
    let reader = Reader {
        file,
        text,
        base: Base {
            directory: file.parent(),
            home,
        },
    };
    let document = DeTable::parse(text).map_err(|error| ConfigError::Syntax {
        origin: reader.origin(error.span().unwrap_or_default()),
        message: error.message().to_owned(),
    })?;
    let mut layer = Layer::default();
    for (key, value) in in_order(document.get_ref()) {
        let name = TABLES.into_iter().find(|name| key.get_ref() == name);
        match (name, value.get_ref()) {
            (Some(PRICES), DeValue::Table(models)) => {
                for (model, value) in in_order(models) {
                    reader.set_prices(&mut layer, model, value)?;
                }
            }
            (Some(name), DeValue::Table(table)) => {
                for (key, value) in in_order(table) {
                    reader.set(&mut layer, Some(name), key, value)?;
                }
            }
            (Some(table), _) => {
                return Err(ConfigError::NoTable {
                    origin: reader.origin(key.span()),
                    table,
                });
            }
            (None, _) => reader.set(&mut layer, None, key, value)?,
        }
    }
    Ok(layer)
}

type Entry<'t, 'i> = (
    &'t Spanned<std::borrow::Cow<'i, str>>,
    &'t Spanned<DeValue<'i>>,
);

/// The entries as they stand in the file, so that the first wrong line is the one named.
fn in_order<'t, 'i>(table: &'t DeTable<'i>) -> Vec<Entry<'t, 'i>> {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    entries
}

struct Reader<'a> {
    file: &'a Path,
    text: &'a str,
    base: Base<'a>,
}

impl Reader<'_> {
    fn set(
        &self,
        layer: &mut Layer,
        table: Option<&str>,
        key: &Spanned<std::borrow::Cow<'_, str>>,
        value: &Spanned<DeValue<'_>>,
    ) -> Result<(), ConfigError> {
        let origin = self.origin(key.span());
        let leaf = key.get_ref().as_ref();
        let full = match table {
            Some(table) => format!("{table}.{leaf}"),
            None => leaf.to_owned(),
        };
        let Some(row) = ROWS.iter().find(|row| row.key == full) else {
            return Err(if value.get_ref().is_str() && names_a_key(leaf) {
                ConfigError::LiteralKey { origin, key: full }
            } else {
                ConfigError::UnknownKey {
                    origin,
                    nearest: nearest_setting(leaf),
                    key: full,
                }
            });
        };
        layer.set(row.setting, raw(value.get_ref()), origin, &self.base)
    }

    fn set_prices(
        &self,
        layer: &mut Layer,
        model: &Spanned<std::borrow::Cow<'_, str>>,
        value: &Spanned<DeValue<'_>>,
    ) -> Result<(), ConfigError> {
        let DeValue::Table(parts) = value.get_ref() else {
            let origin = self.origin(model.span());
            let value = raw(value.get_ref());
            return layer.set(Setting::Prices, value, origin, &self.base);
        };
        for (part, value) in in_order(parts) {
            let origin = self.origin(part.span());
            layer.set_price(
                model.get_ref(),
                part.get_ref(),
                raw(value.get_ref()),
                origin,
            )?;
        }
        Ok(())
    }

    fn origin(&self, span: Range<usize>) -> Origin {
        let before = self.text.get(..span.start).unwrap_or(self.text);
        Origin::File {
            path: self.file.to_owned(),
            line: before.matches('\n').count() + 1,
        }
    }
}

fn raw(value: &DeValue<'_>) -> Raw {
    match value {
        DeValue::String(text) => Raw::Text(text.clone().into_owned()),
        DeValue::Boolean(on) => Raw::Switch(*on),
        DeValue::Integer(number) => match u64::from_str_radix(number.as_str(), number.radix()) {
            Ok(number) => Raw::Number(number.to_string()),
            Err(_) => Raw::Number(number.as_str().to_owned()),
        },
        DeValue::Float(number) => Raw::Number(number.as_str().to_owned()),
        DeValue::Array(items) => items
            .iter()
            .map(|item| item.get_ref().as_str().map(str::to_owned))
            .collect::<Option<Vec<_>>>()
            .map_or(Raw::Other("a list with other things than text"), Raw::List),
        other => Raw::Other(other.type_str()),
    }
}

/// Whether a setting of this name would hold a key or password.
fn names_a_key(leaf: &str) -> bool {
    let plain: String = leaf
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .map(|c| c.to_ascii_lowercase())
        .collect();
    ["key", "token", "secret", "password"]
        .iter()
        .any(|word| plain.ends_with(word))
}

fn nearest_setting(leaf: &str) -> Option<String> {
    let leaves = ROWS.iter().map(Row::leaf).chain(TABLES);
    let found = nearest(leaf, leaves)?;
    let row = ROWS.iter().find(|row| row.leaf() == found);
    Some(row.map_or(found, |row| row.key.to_owned()))
}
