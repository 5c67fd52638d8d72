//! Figures as people read them: median, least, and the spread between the tenth and the ninetieth hundredth.

use std::time::Duration;

/// Measurements of one figure, in one unit.
#[derive(Clone, Debug, Default)]
pub struct Samples(Vec<f64>);

impl Samples {
    pub fn push(&mut self, value: f64) {
        self.0.push(value);
    }

    pub fn push_ms(&mut self, duration: Duration) {
        self.push(duration.as_secs_f64() * 1_000.0);
    }

    /// The value that the part `at` (0 to 1) of all values does not exceed; 0 without values.
    pub fn quantile(&self, at: f64) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        let last = sorted.len().saturating_sub(1) as f64;
        let index = (last * at).round() as usize;
        sorted.get(index).copied().unwrap_or_default()
    }

    pub fn median(&self) -> f64 {
        self.quantile(0.5)
    }
}

pub struct Table {
    rows: Vec<[String; 5]>,
}

impl Table {
    /// Prints the heading; the rows follow with [`Table::print`].
    pub fn new(title: &str) -> Self {
        println!("\n{title}");
        let heading = ["", "median", "least", "p10–p90", "target"];
        Self {
            rows: vec![heading.map(str::to_owned)],
        }
    }

    /// `target` is free text; empty where there is none.
    pub fn row(&mut self, figure: &str, unit: &str, samples: &Samples, target: &str) {
        let show = |value: f64| match value.abs() {
            0.0..10.0 => format!("{value:.2}"),
            10.0..100.0 => format!("{value:.1}"),
            _ => format!("{value:.0}"),
        };
        self.rows.push([
            figure.to_owned(),
            format!("{} {unit}", show(samples.median())),
            show(samples.quantile(0.0)),
            format!("{}–{}", show(samples.quantile(0.1)), show(samples.quantile(0.9))),
            target.to_owned(),
        ]);
    }

    pub fn print(&self) {
        let width = |column: usize| {
            self.rows
                .iter()
                .map(|row| row[column].chars().count())
                .max()
                .unwrap_or(0)
        };
        let widths: Vec<usize> = (0..5).map(width).collect();
        for row in &self.rows {
            let mut line = format!("  {:<1$}", row[0], widths[0]);
            for (cell, width) in row.iter().zip(&widths).skip(1) {
                line.push_str(&format!("  {cell:>width$}"));
            }
            println!("{}", line.trim_end());
        }
    }
}

/// What the figures were measured on: processor, cores, load.
pub fn machine() -> String {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let processor = read("/proc/cpuinfo")
        .lines()
        .find_map(|line| {
            Some(
                line.strip_prefix("model name")?
                    .split_once(':')?
                    .1
                    .trim()
                    .to_owned(),
            )
        })
        .unwrap_or_else(|| "unknown processor".to_owned());
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let load = read("/proc/loadavg");
    let load = load.split(' ').next().unwrap_or_default();
    format!(
        "{processor}, {cores} cores; load at the start {load}. Wall times are only good on a quiet machine."
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_values_that_were_measured() {
        let mut samples = Samples::default();
        assert_eq!(samples.median(), 0.0);
        for value in [5.0, 1.0, 4.0, 2.0, 3.0] {
            samples.push(value);
        }
        assert_eq!(samples.quantile(0.0), 1.0);
        assert_eq!(samples.median(), 3.0);
        assert_eq!(samples.quantile(0.9), 5.0);
    }
}
