//! The only place that estimates tokens (§24.2).

/// Bytes of UTF-8 text that make one token on average. Source code measures near 4.1 with current public
/// tokenizers; 4 errs on the side of counting too many.
const BYTES_PER_TOKEN: usize = 4;

/// Estimates are a little wrong, and an answer that is refused costs more than one condensing too early.
const CONDENSE_ABOVE_PERCENT: u64 = 90;

/// Divides a model's context window. All figures are tokens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TokenBudgetManager {
    context_window: u64,
    reserved_output: u64,
    calibration: Calibration,
}

/// How many tokens a model counts for one that is estimated: tokenizers differ, and so do languages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Calibration {
    ratio: f64,
}

/// Beyond these a count says something else than text: images, a provider's own additions, a count that is wrong.
const LEAST_RATIO: f64 = 0.5;
const LARGEST_RATIO: f64 = 3.0;
/// What the newest request weighs.
const NEWEST_WEIGHT: f64 = 0.3;
/// Smaller requests are mostly what a provider adds to each. In tokens.
const SMALLEST_SAMPLE: u64 = 200;

impl Default for Calibration {
    fn default() -> Self {
        Self { ratio: 1.0 }
    }
}

impl Calibration {
    /// A ratio that was kept; one that is out of bounds is brought within them.
    pub fn from_ratio(ratio: f64) -> Self {
        match ratio.is_finite() {
            true => Self {
                ratio: ratio.clamp(LEAST_RATIO, LARGEST_RATIO),
            },
            false => Self::default(),
        }
    }

    pub fn ratio(self) -> f64 {
        self.ratio
    }

    /// With one more request: what was estimated without calibration, and what the provider counted.
    #[must_use]
    pub fn learned(self, estimated: u64, counted: u64) -> Self {
        if estimated < SMALLEST_SAMPLE || counted == 0 {
            return self;
        }
        let seen = Self::from_ratio(counted as f64 / estimated as f64).ratio;
        Self {
            ratio: self.ratio + (seen - self.ratio) * NEWEST_WEIGHT,
        }
    }
}

impl TokenBudgetManager {
    /// `reserved_output` is kept free for the answer.
    pub fn new(context_window: u64, reserved_output: u64) -> Self {
        Self {
            context_window,
            reserved_output: reserved_output.min(context_window),
            calibration: Calibration::default(),
        }
    }

    /// With what is known of the model's way to count.
    #[must_use]
    pub fn calibrated(self, calibration: Calibration) -> Self {
        Self { calibration, ..self }
    }

    /// What the model will count for what was estimated.
    pub fn expected(&self, estimated: u64) -> u64 {
        (estimated as f64 * self.calibration.ratio).ceil() as u64
    }

    pub fn estimate(text: &str) -> u64 {
        Self::estimate_bytes(text.len())
    }

    pub fn estimate_bytes(bytes: usize) -> u64 {
        bytes.div_ceil(BYTES_PER_TOKEN) as u64
    }

    /// How much text makes so many tokens, as estimated.
    pub fn bytes_of(tokens: u64) -> usize {
        usize::try_from(tokens)
            .unwrap_or(usize::MAX)
            .saturating_mul(BYTES_PER_TOKEN)
    }

    /// What the whole prompt may use.
    pub fn prompt_limit(&self) -> u64 {
        self.context_window - self.reserved_output
    }

    /// §19.4 gives instructions a tenth. Those of the root get three quarters of it, so that a long one leaves room
    /// for nearer ones, which come later.
    pub fn root_instruction_limit(&self) -> u64 {
        self.context_window / 10 - self.nested_instruction_limit()
    }

    pub fn nested_instruction_limit(&self) -> u64 {
        self.context_window / 40
    }

    /// §19.4 gives recent conversation a share of 15 %; so much may stand for all that came before it. In tokens as
    /// estimated.
    pub fn summary_limit(&self) -> u64 {
        self.estimated_for(self.prompt_limit() * 15 / 100)
    }

    /// Whether a prompt is so near to the limit that earlier parts of it have to go.
    pub fn needs_condensing(&self, estimated_prompt: u64) -> bool {
        self.expected(estimated_prompt) > self.prompt_limit() * CONDENSE_ABOVE_PERCENT / 100
    }

    /// The largest prompt that need not be condensed, in tokens as estimated.
    pub fn condensing_limit(&self) -> u64 {
        self.estimated_for(self.prompt_limit() * CONDENSE_ABOVE_PERCENT / 100)
    }

    /// What a condensed prompt comes to, in tokens as estimated: about half, so that many requests share one prefix
    /// before it changes again.
    pub fn condensed_size(&self) -> u64 {
        self.estimated_for(self.prompt_limit() / 2)
    }

    /// How much text, as estimated, the model will count as so many tokens.
    fn estimated_for(&self, counted: u64) -> u64 {
        (counted as f64 / self.calibration.ratio) as u64
    }

    pub fn fits(&self, estimated_prompt: u64) -> bool {
        self.expected(estimated_prompt) <= self.prompt_limit()
    }
}

/// The longest prefix of `text` within `tokens` that ends at a line, and whether anything was cut.
pub fn cut_to_tokens(text: &str, tokens: u64) -> (&str, bool) {
    let bytes = (tokens as usize).saturating_mul(BYTES_PER_TOKEN);
    if text.len() <= bytes {
        return (text, false);
    }
    let mut end = bytes;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let end = text[..end].rfind('\n').map_or(end, |newline| newline + 1);
    (&text[..end], true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_at_a_line_and_never_inside_a_character() {
        assert_eq!(cut_to_tokens("one\ntwo\nthree", 2), ("one\ntwo\n", true));
        assert_eq!(cut_to_tokens("你好世界", 1), ("你", true));
        assert_eq!(cut_to_tokens("short", 9), ("short", false));
    }

    #[test]
    fn a_prompt_is_condensed_near_its_limit_and_to_half_of_it() {
        let budget = TokenBudgetManager::new(10_000, 2_000);
        assert!(!budget.needs_condensing(7_200) && budget.needs_condensing(7_201));
        assert_eq!((budget.condensed_size(), budget.summary_limit()), (4_000, 1_200));
        let dense = budget.calibrated(Calibration::from_ratio(2.0));
        assert!(dense.needs_condensing(3_601));
        assert_eq!(dense.condensed_size(), 2_000);
    }

    #[test]
    fn the_answer_keeps_its_share() {
        let budget = TokenBudgetManager::new(1000, 300);
        assert!(budget.fits(700));
        assert!(!budget.fits(701));
        assert_eq!(TokenBudgetManager::new(100, 900).prompt_limit(), 0);
    }

    #[test]
    fn estimates_come_to_what_the_model_counts_and_stay_within_bounds() {
        let mut calibration = Calibration::default();
        for _ in 0..20 {
            calibration = calibration.learned(1_000, 1_400);
        }
        let budget = TokenBudgetManager::new(10_000, 3_000).calibrated(calibration);
        assert!((1_390..=1_400).contains(&budget.expected(1_000)));
        assert!(budget.fits(5_000) && !budget.fits(5_100));
        for (estimated, counted, bound) in [(1_000, 1_000_000, 3.0), (1_000_000, 1, 0.5)] {
            let mut wild = Calibration::default();
            for _ in 0..50 {
                wild = wild.learned(estimated, counted);
            }
            assert!((wild.ratio() - bound).abs() < 0.01, "{wild:?}");
        }
        for (estimated, counted) in [(10, 5_000), (1_000, 0)] {
            assert_eq!(Calibration::default().learned(estimated, counted).ratio(), 1.0);
        }
        assert_eq!(Calibration::from_ratio(f64::NAN), Calibration::default());
    }
}
