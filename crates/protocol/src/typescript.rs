//! The contract in TypeScript, for the screen: one generated file, held equal to the Rust types by a test.
//! `UPDATE_TYPES=1 cargo nextest run -p protocol` writes it anew.

use std::{collections::BTreeMap, path::Path};

use ts_rs::{Config, TS, TypeVisitor};

use crate::{
    host,
    request::{EngineFrame, Request},
};

const HEADER: &str = "\
// The wire contract, generated from crates/protocol. Do not edit: change the Rust types, then run
// UPDATE_TYPES=1 cargo nextest run -p protocol
";

/// Everything reachable from the frames and the requests' parameters and results.
pub(crate) struct Module {
    config: Config,
    declarations: BTreeMap<String, String>,
    methods: Vec<String>,
}

impl Module {
    fn new() -> Self {
        Self {
            // Counts and milliseconds stay far below 2^53.
            config: Config::new().with_large_int("number"),
            declarations: BTreeMap::new(),
            methods: Vec::new(),
        }
    }

    /// A type that no request of the engine reaches.
    pub(crate) fn add<T: TS + 'static>(&mut self) {
        self.visit::<T>();
    }

    pub(crate) fn method<P: TS + 'static, R: TS + 'static>(&mut self, name: &str) {
        self.visit::<P>();
        self.visit::<R>();
        self.methods.push(format!(
            "  \"{name}\": {{ params: {}; result: {} }};\n",
            P::name(&self.config),
            R::name(&self.config)
        ));
    }

    fn text(&self) -> String {
        let mut text = HEADER.to_owned();
        for declaration in self.declarations.values() {
            text.push('\n');
            text.push_str(declaration);
        }
        text.push_str(
            "\n/** Every request with its parameters and its result. */\nexport interface Methods {\n",
        );
        self.methods.iter().for_each(|method| text.push_str(method));
        text.push_str("}\n");
        text
    }
}

impl TypeVisitor for Module {
    fn visit<T: TS + 'static + ?Sized>(&mut self) {
        // Types without a file of their own are TypeScript's, or were written out where they are used.
        if T::output_path().is_none() {
            return;
        }
        let name = T::ident(&self.config);
        if self.declarations.contains_key(&name) {
            return;
        }
        let docs = T::docs().unwrap_or_default();
        let declaration = format!("{docs}export {}\n", T::decl(&self.config));
        self.declarations.insert(name, declaration);
        T::visit_dependencies(self);
    }
}

#[test]
#[allow(
    clippy::disallowed_methods,
    reason = "a developer asked for the file to be written"
)]
fn the_screens_types_are_those_of_the_contract() {
    let mut module = Module::new();
    module.visit::<EngineFrame>();
    Request::declare(&mut module);
    host::declare(&mut module);
    let generated = module.text();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../apps/ui/src/protocol/index.ts");
    if std::env::var_os("UPDATE_TYPES").is_some_and(|value| value == "1") {
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, &generated).unwrap();
    }
    let committed = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(
        committed == generated,
        "apps/ui/src/protocol/index.ts differs from the Rust types. \
         Run: UPDATE_TYPES=1 cargo nextest run -p protocol"
    );
}
