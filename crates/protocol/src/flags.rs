//! Runtime feature flags (§54.1). This is the one place that names them; the store loads overrides for those
//! that may be overridden.

use serde::{Deserialize, Serialize};

/// A flag with one value. Nothing can switch on what is built for a later phase: there is no other value to
/// write down.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Off;

impl Serialize for Off {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bool(false)
    }
}

impl<'de> Deserialize<'de> for Off {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match bool::deserialize(deserializer)? {
            false => Ok(Off),
            true => Err(serde::de::Error::custom(
                "this feature cannot be switched on in this version",
            )),
        }
    }
}

/// A flag with one value: the coding core is always there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct On;

impl Serialize for On {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bool(true)
    }
}

impl<'de> Deserialize<'de> for On {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match bool::deserialize(deserializer)? {
            true => Ok(On),
            false => Err(serde::de::Error::custom("the coding core cannot be switched off")),
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct RuntimeFeatureFlags {
    pub coding_core: On,
    pub browser_island: Off,
    pub design_island: Off,
    pub device_control_island: Off,
    pub browser_tools_in_coding: Off,
    pub design_tools_in_coding: Off,
    pub device_tools_in_coding: Off,
    pub browser_context_in_coding: Off,
    pub design_context_in_coding: Off,
    pub device_context_in_coding: Off,
    pub advanced_agents: bool,
    pub long_term_memory: bool,
    pub plugins: bool,
    pub mcp: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn island_flags_are_off_and_cannot_be_switched_on() {
        let flags = serde_json::to_value(RuntimeFeatureFlags::default()).unwrap();
        for (name, value) in flags.as_object().unwrap() {
            assert_eq!(value, &serde_json::json!(name == "codingCore"), "{name}");
            if name.contains("sland") || name.contains("InCoding") {
                let switched = serde_json::json!({ name: true });
                assert!(
                    serde_json::from_value::<RuntimeFeatureFlags>(switched).is_err(),
                    "{name}"
                );
            }
        }
    }
}
