//! The files of the guests that the tests run.
