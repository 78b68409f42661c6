//! The table: a line a figure, with its goal and whether it is met, printed as it is measured.

/// What a figure should be.
#[derive(Debug, Clone, Copy)]
pub enum Goal {
    /// This or less.
    AtMost(f64),
    /// This or more.
    AtLeast(f64),
}

/// A table whose head is printed.
#[derive(Debug)]
pub struct Table(());

impl Table {
    /// Prints the head.
    pub fn begin() -> Self {
        println!("| figure | measured | goal | met |");
        println!("|---|---:|---:|---|");
        Table(())
    }

    /// Prints a figure that has a goal.
    pub fn judge(&self, figure: &str, measured: f64, unit: &str, goal: Goal) {
        let (goal, met) = match goal {
            Goal::AtMost(most) => (format!("at most {}", shown(most, unit)), measured <= most),
            Goal::AtLeast(least) => (
                format!("at least {}", shown(least, unit)),
                measured >= least,
            ),
        };
        let met = if met { "yes" } else { "**no**" };
        println!("| {figure} | {} | {goal} | {met} |", shown(measured, unit));
    }

    /// Says why a figure is not here.
    pub fn note(&self, text: &str) {
        println!("| {text} | | | |");
    }

    /// Prints a figure that explains others.
    pub fn tell(&self, figure: &str, measured: f64, unit: &str) {
        println!("| {figure} | {} | | |", shown(measured, unit));
    }
}

/// Three digits, as far as they say something.
fn shown(value: f64, unit: &str) -> String {
    let digits = match value {
        v if v >= 100.0 => 0,
        v if v >= 10.0 => 1,
        v if v >= 0.1 => 2,
        _ => 3,
    };
    let number = format!("{value:.digits$}");
    let number = if number.contains('.') {
        number.trim_end_matches('0').trim_end_matches('.')
    } else {
        &number
    };
    match unit {
        "x" | "%" => format!("{number}{unit}"),
        _ => format!("{number} {unit}").trim_end().to_owned(),
    }
}
