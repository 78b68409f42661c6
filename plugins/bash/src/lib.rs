//! The component of bash.
