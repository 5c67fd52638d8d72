//! The product from outside: the real binary, real repositories, real commands, and a model server that speaks the
//! vendors' formats.

mod golden;
mod support;
