//! Talks to models.
