//! The workspace's git repository, read through the git program.
