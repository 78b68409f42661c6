//! The component of todo_write.
