//! Slower networks and processors.

use crate::access::principal::Permission;
use crate::answers::reply::Reply;
use crate::calls::Call;
use crate::config::Capability;
use crate::error::{Error, Result};
use crate::tools::scope::TabInAnyState;
use crate::tools::tool::{Effect, Tool, ToolDef};
use engine::{Feature, Throttling};
use schemars::JsonSchema;
use serde::Deserialize;

pub(super) const TOOLS: &[ToolDef] = &[ToolDef::of::<Throttle>()];

/// Throttle network and CPU.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Throttle {
    network: Option<NetworkPreset>,
    /// Slowdown factor; 1: none.
    #[schemars(range(min = 1, max = 20))]
    cpu: Option<f64>,
}

/// A preset of Chrome DevTools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema, strum::Display)]
enum NetworkPreset {
    #[serde(rename = "none")]
    #[strum(to_string = "not throttled")]
    None,
    #[serde(rename = "Slow 3G")]
    #[strum(to_string = "Slow 3G")]
    Slow3G,
    #[serde(rename = "Fast 3G")]
    #[strum(to_string = "Fast 3G")]
    Fast3G,
    #[serde(rename = "Slow 4G")]
    #[strum(to_string = "Slow 4G")]
    Slow4G,
    #[serde(rename = "Fast 4G")]
    #[strum(to_string = "Fast 4G")]
    Fast4G,
}

impl NetworkPreset {
    /// Returns the limits of Chrome DevTools (`NetworkManager.ts`), where Slow 4G is another name of Fast 3G.
    fn limits(self) -> Throttling {
        // Megabits per second with the factor by which DevTools adjusts them.
        let limits = |download: f64, upload: f64, latency| Throttling {
            download: Some(download * 1e6 / 8.0),
            upload: Some(upload * 1e6 / 8.0),
            latency,
        };
        match self {
            Self::None => Throttling::default(),
            Self::Slow3G => limits(0.5 * 0.8, 0.5 * 0.8, 400.0 * 5.0),
            Self::Fast3G | Self::Slow4G => limits(1.6 * 0.9, 0.75 * 0.9, 150.0 * 3.75),
            Self::Fast4G => limits(9.0 * 0.9, 1.5 * 0.9, 60.0 * 2.75),
        }
    }
}

impl Tool for Throttle {
    const NAME: &'static str = "browser_throttle";
    const TITLE: &'static str = "Throttle network and CPU";
    const EFFECT: Effect = Effect::Acts;
    const PERMISSION: Permission = Permission::Act;
    const CAPABILITY: Option<Capability> = Some(Capability::Performance);
    type Scope = TabInAnyState;
    type Output = Reply;

    async fn run(self, tab: TabInAnyState, call: &Call) -> Result<Reply> {
        if self.network.is_none() && self.cpu.is_none() {
            return Err(Error::Arguments {
                reason: "Give a network preset or a cpu factor".into(),
                parameters: &[],
                missing: &["network", "cpu"],
                bare: false,
            });
        }
        let rate = self
            .cpu
            .map(|factor| Some(factor).filter(|factor| *factor > 1.0));
        if let Some(Some(_)) = rate {
            tab.require(Feature::CpuThrottling)?;
        }
        let context = tab.context()?;
        let mut lines = Vec::new();
        if let Some(preset) = self.network {
            let limits = preset.limits();
            context.set_throttling(&call.action(), limits).await?;
            lines.push(match (limits.download, limits.upload) {
                (Some(download), Some(upload)) => format!(
                    "Network: {preset} ({:.0} kB/s down, {:.0} kB/s up, {:.0} ms latency)",
                    download / 1_000.0,
                    upload / 1_000.0,
                    limits.latency
                ),
                _ => format!("Network: {preset}"),
            });
        }
        if let Some(rate) = rate {
            context.set_cpu_throttling(&call.action(), rate).await?;
            lines.push(match rate {
                Some(rate) => format!("CPU: {rate} times slower"),
                None => "CPU: not throttled".to_owned(),
            });
        }
        Ok(Reply::text(lines.join("\n")))
    }
}

#[cfg(test)]
mod tests {
    use super::NetworkPreset;

    #[test]
    fn presets_have_the_limits_of_chrome_devtools() {
        let limits = |preset: NetworkPreset| {
            let limits = preset.limits();
            (limits.download, limits.upload, limits.latency)
        };
        let cases = [
            (NetworkPreset::None, (None, None, 0.0)),
            (
                NetworkPreset::Slow3G,
                (Some(50_000.0), Some(50_000.0), 2_000.0),
            ),
            (
                NetworkPreset::Fast3G,
                (Some(180_000.0), Some(84_375.0), 562.5),
            ),
            (
                NetworkPreset::Slow4G,
                (Some(180_000.0), Some(84_375.0), 562.5),
            ),
            (
                NetworkPreset::Fast4G,
                (Some(1_012_500.0), Some(168_750.0), 165.0),
            ),
        ];
        for (preset, (download, upload, latency)) in cases {
            let rounded = |speed: Option<f64>| speed.map(f64::round);
            let (down, up, delay) = limits(preset);
            assert_eq!((rounded(down), rounded(up)), (download, upload), "{preset}");
            assert!((delay - latency).abs() < 1e-6, "{preset}");
        }
    }
}
