//! Descriptors of devices by name. The emulation itself is elsewhere.

use crate::backend::{Size, Viewport};
use serde::Deserialize;
use std::collections::BTreeMap;

/// The descriptor of a device.
#[derive(Debug, Clone, PartialEq)]
pub struct Device {
    /// The viewport, the device scale factor, and touch support.
    pub viewport: Viewport,
    /// The size of the screen, if known.
    pub screen: Option<Size>,
    /// The user agent. For devices with Chromium, `{version}` is replaced by the browser's version; see [`user_agent_of`].
    pub user_agent: String,
}

/// Returns the device of that name, such as `iPhone 15` or `iPhone 15 landscape`.
pub fn device(name: &str) -> Option<Device> {
    let rows = rows();
    match name.strip_suffix(" landscape") {
        Some(upright) => rows.get(upright)?.landscape(),
        None => Some(rows.get(name)?.portrait()),
    }
}

/// Returns the names of all devices.
pub fn device_names() -> Vec<String> {
    let names = rows().into_iter().flat_map(|(name, row)| {
        let landscape = row.landscape.map(|_| format!("{name} landscape"));
        [Some(name.to_owned()), landscape]
    });
    names.flatten().collect()
}

/// Returns the user agent of a device in the running browser: `product` is its name and version, such as `Chrome/156.0.8078.79`. A text
/// without the placeholder is unchanged.
pub fn user_agent_of(template: &str, product: &str) -> String {
    let version = product.rsplit('/').next().unwrap_or(product);
    template.replace("{version}", version)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Row {
    viewport: (u32, u32),
    screen: Option<(u32, u32)>,
    scale: f64,
    mobile: bool,
    user_agent: String,
    landscape: Option<(u32, u32)>,
    landscape_screen: Option<(u32, u32)>,
}

fn rows() -> BTreeMap<&'static str, Row> {
    serde_json::from_str(include_str!("devices.json")).expect("a test reads the table")
}

impl Row {
    fn portrait(&self) -> Device {
        self.with(self.viewport, self.screen)
    }

    fn landscape(&self) -> Option<Device> {
        Some(self.with(self.landscape?, self.landscape_screen.or(self.screen)))
    }

    fn with(&self, viewport: (u32, u32), screen: Option<(u32, u32)>) -> Device {
        let size = |(width, height)| Size { width, height };
        Device {
            viewport: Viewport {
                size: size(viewport),
                screen: None,
                device_scale_factor: self.scale,
                is_mobile: self.mobile,
                has_touch: self.mobile,
            },
            screen: screen.map(size),
            user_agent: self.user_agent.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phones_have_their_sizes() {
        let phone = device("iPhone 15").expect("listed");
        assert_eq!(
            phone.viewport.size,
            Size {
                width: 393,
                height: 659
            }
        );
        assert_eq!(phone.viewport.device_scale_factor, 3.0);
        assert!(phone.viewport.is_mobile && phone.viewport.has_touch);
        let phone = device("Pixel 10").expect("listed");
        assert_eq!(
            phone.viewport.size,
            Size {
                width: 360,
                height: 732
            }
        );
        assert_eq!(
            phone.screen,
            Some(Size {
                width: 360,
                height: 808
            })
        );
        let on_its_side = device("Pixel 10 landscape").expect("listed");
        assert_eq!(
            on_its_side.viewport.size,
            Size {
                width: 756,
                height: 308
            }
        );
        assert_eq!(
            on_its_side.screen,
            Some(Size {
                width: 808,
                height: 360
            })
        );
    }

    #[test]
    fn every_name_is_a_device() {
        let names = device_names();
        assert_eq!(names.len(), 207);
        for name in names {
            assert!(device(&name).is_some(), "{name}");
        }
        assert_eq!(device("Desktop Chrome landscape"), None);
        assert_eq!(device("iPhone 3"), None);
    }

    #[test]
    fn the_user_agent_contains_the_real_version() {
        let phone = device("Pixel 10").expect("listed");
        let user_agent = user_agent_of(&phone.user_agent, "HeadlessChrome/156.0.8078.79");
        assert!(
            user_agent.contains(" Chrome/156.0.8078.79 Mobile"),
            "{user_agent}"
        );
        let safari = device("iPhone 15").expect("listed").user_agent;
        assert_eq!(user_agent_of(&safari, "Chrome/1"), safari);
    }
}
