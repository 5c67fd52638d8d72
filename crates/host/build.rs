//! A screen that was built anew is to be carried anew: without this only files known from before would be looked at.

fn main() {
    println!("cargo::rerun-if-changed=../../apps/ui/dist");
}
