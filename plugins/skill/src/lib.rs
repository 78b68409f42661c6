//! The component of use_skill.
