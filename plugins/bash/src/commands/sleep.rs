//! `sleep`. It must never know how much time is left: what waits is ended from outside.

use bashkit::{Builtin, BuiltinContext, ExecResult, Result, async_trait};
use std::time::Duration;

/// `sleep` without bashkit's silent end after 60 seconds. The call's own limit ends it.
pub struct Sleep;

#[async_trait]
impl Builtin for Sleep {
    async fn execute(&self, ctx: BuiltinContext<'_>) -> Result<ExecResult> {
        if ctx.args.is_empty() {
            return Ok(ExecResult::err("sleep: missing operand\n", 1));
        }
        let mut total = Duration::ZERO;
        for operand in ctx.args {
            match interval(operand) {
                Some(duration) => total = total.saturating_add(duration),
                None => {
                    let message = format!("sleep: invalid time interval '{operand}'\n");
                    return Ok(ExecResult::err(message, 1));
                }
            }
        }
        tokio::time::sleep(total).await;
        Ok(ExecResult::default())
    }
}

/// `1.5`, `2m`, `inf`: a number with a unit of `s`, `m`, `h` or `d`. At most a year.
fn interval(operand: &str) -> Option<Duration> {
    const YEAR: f64 = 365.0 * 86_400.0;
    let (number, unit) = match operand.char_indices().next_back()? {
        (at, 's') => (&operand[..at], 1.0),
        (at, 'm') => (&operand[..at], 60.0),
        (at, 'h') => (&operand[..at], 3_600.0),
        (at, 'd') => (&operand[..at], 86_400.0),
        _ => (operand, 1.0),
    };
    let seconds = number.parse::<f64>().ok()? * unit;
    (seconds >= 0.0).then(|| Duration::from_secs_f64(seconds.min(YEAR)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sleep_reads_numbers_with_units() {
        let cases = [
            ("0", Some(0.0)),
            ("0.25", Some(0.25)),
            ("2s", Some(2.0)),
            ("1.5m", Some(90.0)),
            ("1h", Some(3_600.0)),
            ("1d", Some(86_400.0)),
            ("inf", Some(31_536_000.0)),
            ("", None),
            ("-1", None),
            ("nan", None),
            ("1x", None),
            ("m", None),
        ];
        for (operand, seconds) in cases {
            assert_eq!(
                interval(operand),
                seconds.map(Duration::from_secs_f64),
                "{operand:?}"
            );
        }
    }
}
