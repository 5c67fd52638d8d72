use proptest::prelude::*;

use super::*;
use crate::outline::outline;

/// Resolves the imports of a source as it stands in a repository; what it means, one import after the other.
fn resolved(paths: &[&str], manifests: &[(&str, &str)], from: &str, source: &str) -> Vec<String> {
    let manifests: Vec<Manifest> = manifests
        .iter()
        .map(|(path, text)| Manifest {
            path: PathBuf::from(path),
            text: (*text).to_owned(),
        })
        .collect();
    let resolver = ImportResolver::new(paths.iter().map(Path::new), &manifests);
    let from = Path::new(from);
    let language = Language::of_path(from);
    outline(language, source, &|| false)
        .imports
        .iter()
        .map(|import| {
            let files = resolver.resolve(from, language, import);
            let files: Vec<&str> = files.iter().map(|file| paths[*file as usize]).collect();
            format!("{} -> {}", import.target, files.join(" "))
        })
        .collect()
}

#[test]
fn rust_modules_and_crates() {
    let paths = [
        "Cargo.toml",
        "crates/store/Cargo.toml",
        "crates/store/src/lib.rs",
        "crates/store/src/disk.rs",
        "crates/store/src/disk/page.rs",
        "crates/store/src/log/mod.rs",
        "crates/store/tests/it.rs",
        "crates/store/tests/common/mod.rs",
        "crates/my-app/Cargo.toml",
        "crates/my-app/src/main.rs",
        "crates/my-app/src/ui.rs",
    ];
    let manifests = [
        (
            "crates/store/Cargo.toml",
            "[package]\nname = \"store\"\n[dependencies]\nname = \"x\"\n",
        ),
        (
            "crates/my-app/Cargo.toml",
            "[package]\nname = \"my-app\" # the program\n",
        ),
        ("Cargo.toml", "[workspace]\n"),
    ];
    assert_eq!(
        resolved(
            &paths,
            &manifests,
            "crates/store/src/disk/page.rs",
            "use super::Disk;\nuse crate::log::{self, Entry};\nuse crate::Store;\nuse std::io;\nuse super::super::log::X;\n\
             #[cfg(test)]\nmod tests { use super::*; }\n",
        ),
        [
            "super -> crates/store/src/disk.rs",
            "crate -> crates/store/src/log/mod.rs",
            "crate::log -> crates/store/src/log/mod.rs",
            "crate -> crates/store/src/lib.rs",
            "std -> ",
            "super::super::log -> crates/store/src/log/mod.rs",
        ]
    );
    assert_eq!(
        resolved(
            &paths,
            &manifests,
            "crates/store/src/lib.rs",
            "mod disk;\npub mod log;\npub use disk::page::Page;\nmod gone;\n",
        ),
        [
            "self::disk -> crates/store/src/disk.rs",
            "self::log -> crates/store/src/log/mod.rs",
            "disk::page -> crates/store/src/disk/page.rs",
            "self::gone -> ",
        ]
    );
    assert_eq!(
        resolved(
            &paths,
            &manifests,
            "crates/store/tests/it.rs",
            "mod common;\nuse store::disk::Disk;\nuse my_app::ui;\n"
        ),
        [
            "self::common -> crates/store/tests/common/mod.rs",
            "store::disk -> crates/store/src/disk.rs",
            "my_app -> crates/my-app/src/ui.rs",
        ]
    );
}

#[test]
fn script_paths_aliases_and_packages() {
    let paths = [
        "package.json",
        "apps/web/package.json",
        "apps/web/tsconfig.json",
        "apps/web/src/main.tsx",
        "apps/web/src/store/index.ts",
        "apps/web/src/store/disk.ts",
        "apps/web/src/ui/Row.vue",
        "apps/web/src/ui/row.module.css",
        "packages/core/package.json",
        "packages/core/src/index.ts",
        "packages/core/src/deep/thing.ts",
    ];
    let manifests = [
        (
            "apps/web/tsconfig.json",
            "{ // of the app\n \"compilerOptions\": { \"baseUrl\": \".\", \"paths\": { \"@ui/*\": [\"src/ui/*\",], /* all */ }, },\n}",
        ),
        (
            "packages/core/package.json",
            "{\"name\": \"@acme/core\", \"main\": \"dist/index.js\"}",
        ),
    ];
    assert_eq!(
        resolved(
            &paths,
            &manifests,
            "apps/web/src/main.tsx",
            "import { a } from './store';\nimport b from './store/disk.js';\nimport Row from '@ui/Row';\n\
             import './ui/row.module.css?raw';\nimport { c } from '@acme/core';\nimport d from '@acme/core/deep/thing';\n\
             import react from 'react';\nimport e from '@/store/disk';\nimport f from 'src/store';\n\
             const g = require('../../../gone');\nconst h = () => import('./store/disk');\n",
        ),
        [
            "./store -> apps/web/src/store/index.ts",
            "./store/disk.js -> apps/web/src/store/disk.ts",
            "@ui/Row -> apps/web/src/ui/Row.vue",
            "./ui/row.module.css?raw -> apps/web/src/ui/row.module.css",
            "@acme/core -> packages/core/src/index.ts",
            "@acme/core/deep/thing -> packages/core/src/deep/thing.ts",
            "react -> ",
            "@/store/disk -> apps/web/src/store/disk.ts",
            "src/store -> apps/web/src/store/index.ts",
            "../../../gone -> ",
            "./store/disk -> apps/web/src/store/disk.ts",
        ]
    );
}

#[test]
fn what_a_package_is_built_from() {
    let paths = [
        "packages/tool/package.json",
        "packages/tool/src/node/other.ts",
        "packages/tool/src/node/main.ts",
        "packages/tool/types/all.d.ts",
        "a.vue",
        "b.ts",
    ];
    let manifest = "{\"name\": \"tool\", \"main\": \"./dist/node/main.js\", \"imports\": {\"#types/*\": \"./types/*.d.ts\"}, \
                    \"exports\": {\"./run\": {\"types\": null, \"import\": {\"default\": \"./dist/node/other.mjs\"}}}}";
    let manifests = [("packages/tool/package.json", manifest)];
    assert_eq!(
        resolved(
            &paths,
            &manifests,
            "packages/tool/src/other.ts",
            "import a from 'tool';\nimport b from '#types/all';\nimport c from 'tool/run';\nimport d from 'tool/gone';\n"
        ),
        [
            "tool -> packages/tool/src/node/main.ts",
            "#types/all -> packages/tool/types/all.d.ts",
            "tool/run -> packages/tool/src/node/other.ts",
            "tool/gone -> ",
        ]
    );
    assert_eq!(
        resolved(
            &paths,
            &manifests,
            "a.vue",
            "<script setup>\nimport { b } from './b';\n</script>\n"
        ),
        ["./b -> b.ts"]
    );
}

#[test]
fn python_packages_and_scripts() {
    let paths = [
        "setup.py",
        "src/app/__init__.py",
        "src/app/store/__init__.py",
        "src/app/store/disk.py",
        "src/app/json.py",
        "tests/test_disk.py",
        "tests/helpers.py",
        "tools/run.py",
        "tools/util.py",
    ];
    assert_eq!(
        resolved(
            &paths,
            &[],
            "src/app/store/disk.py",
            "import json\nfrom . import other\nfrom ..json import load\nfrom app.store import disk\nimport os.path\n\
             from .... import gone\n",
        ),
        [
            "json -> ",
            ". -> src/app/store/__init__.py",
            "..json -> src/app/json.py",
            // Itself.
            "app.store -> ",
            "os.path -> ",
            ".... -> ",
        ]
    );
    assert_eq!(
        resolved(
            &paths,
            &[],
            "tests/test_disk.py",
            "from app.store.disk import Disk\nfrom app import store, json\nimport helpers\nimport app.store.disk\nimport util\n",
        ),
        [
            "app.store.disk -> src/app/store/disk.py",
            "app -> src/app/store/__init__.py src/app/json.py",
            "helpers -> tests/helpers.py",
            "app.store.disk -> src/app/store/disk.py",
            "util -> ",
        ]
    );
    assert_eq!(
        resolved(&paths, &[], "tools/run.py", "import util\n"),
        ["util -> tools/util.py"]
    );
}

#[test]
fn go_packages() {
    let many: Vec<String> = (0..12).map(|number| format!("big/part{number}.go")).collect();
    let mut paths = vec![
        "go.mod",
        "main.go",
        "internal/disk/disk.go",
        "internal/disk/page.go",
        "internal/disk/disk_test.go",
        "big/big.go",
    ];
    paths.extend(many.iter().map(String::as_str));
    assert_eq!(
        resolved(
            &paths,
            &[("go.mod", "// the app\nmodule example.com/app\n\ngo 1.22\n")],
            "main.go",
            "package main\nimport (\n\"fmt\"\n\"example.com/app/internal/disk\"\n\"example.com/application/internal/disk\"\n\
             \"example.com/app/big\"\n)\n",
        ),
        [
            "fmt -> ",
            "example.com/app/internal/disk -> internal/disk/disk.go internal/disk/page.go",
            "example.com/application/internal/disk -> ",
            "example.com/app/big -> big/big.go",
        ]
    );
}

#[test]
fn classes_by_their_packages() {
    let paths = [
        "core/src/main/java/com/acme/store/Disk.java",
        "core/src/main/java/com/acme/store/Page.java",
        "core/src/main/java/com/acme/Main.java",
        "app/src/main/kotlin/ui/Row.kt",
        "one/src/com/acme/Same.java",
        "two/src/com/acme/Same.java",
    ];
    assert_eq!(
        resolved(
            &paths,
            &[],
            "core/src/main/java/com/acme/Main.java",
            "import com.acme.store.Disk;\nimport com.acme.store.*;\nimport static com.acme.store.Disk.open;\n\
             import java.util.List;\nimport com.acme.Same;\nimport com.acme.ui.Row;\n",
        ),
        [
            "com.acme.store.Disk -> core/src/main/java/com/acme/store/Disk.java",
            "com.acme.store -> core/src/main/java/com/acme/store/Disk.java core/src/main/java/com/acme/store/Page.java",
            "com.acme.store.Disk.open -> core/src/main/java/com/acme/store/Disk.java",
            "java.util.List -> ",
            // Two modules have one, and neither is nearer.
            "com.acme.Same -> ",
            "com.acme.ui.Row -> app/src/main/kotlin/ui/Row.kt",
        ]
    );
    assert_eq!(
        resolved(
            &paths,
            &[],
            "two/src/com/acme/Other.java",
            "import com.acme.Same;\n"
        ),
        ["com.acme.Same -> two/src/com/acme/Same.java"]
    );
    assert_eq!(
        resolved(
            &paths,
            &[],
            "app/src/main/kotlin/Main.kt",
            "import com.acme.store.Disk\nimport com.acme.ui.Row\n"
        ),
        [
            "com.acme.store.Disk -> core/src/main/java/com/acme/store/Disk.java",
            "com.acme.ui.Row -> app/src/main/kotlin/ui/Row.kt",
        ]
    );
    assert_eq!(
        resolved(
            &paths,
            &[],
            "app/Main.scala",
            "import com.acme.store.{Disk, Page => P}\n"
        ),
        [
            "com.acme.store -> core/src/main/java/com/acme/store/Disk.java core/src/main/java/com/acme/store/Page.java"
        ]
    );
}

#[test]
fn namespaces_by_their_folders() {
    let paths = [
        "App.Store/Models/User.cs",
        "App.Store/Program.cs",
        "App.Web/Views/Home.cs",
        "app/Models/User.php",
        "app/Http/Kernel.php",
        "lib/util.php",
        "tests/UserTest.php",
    ];
    assert_eq!(
        resolved(
            &paths,
            &[],
            "App.Store/Program.cs",
            "using System.Text;\nusing App.Store.Models;\nusing static App.Store.Models.User;\nusing App.Gone;\n",
        ),
        [
            "System.Text -> ",
            "App.Store.Models -> App.Store/Models/User.cs",
            "App.Store.Models.User -> App.Store/Models/User.cs",
            "App.Gone -> ",
        ]
    );
    assert_eq!(
        resolved(
            &paths,
            &[(
                "composer.json",
                "{\"autoload\": {\"psr-4\": {\"App\\\\\": \"app/\", \"App\\\\Tests\\\\\": [\"tests\"]}}}"
            )],
            "app/Http/Kernel.php",
            "<?php\nuse App\\Models\\User;\nuse App\\Tests\\UserTest;\nuse Other\\Thing;\nrequire __DIR__ . '/../../lib/util.php';\n",
        ),
        [
            "App\\Models\\User -> app/Models/User.php",
            "App\\Tests\\UserTest -> tests/UserTest.php",
            "Other\\Thing -> ",
            "./../../lib/util.php -> lib/util.php",
        ]
    );
}

#[test]
fn files_by_their_paths() {
    let paths = [
        "src/main.c",
        "src/disk.h",
        "include/acme/store.h",
        "include/conf.h.in",
        "third/zlib/zlib.h",
        "one/same.h",
        "two/same.h",
        "lib/acme/store.rb",
        "lib/acme/disk.rb",
        "gems/extra/lib/extra/more.rb",
        "scripts/deploy.sh",
        "scripts/lib/common.sh",
        "public/index.html",
        "public/app.js",
        "styles/main.scss",
        "styles/_part.scss",
    ];
    assert_eq!(
        resolved(
            &paths,
            &[],
            "src/main.c",
            "#include \"disk.h\"\n#include <acme/store.h>\n#include <zlib.h>\n#include \"same.h\"\n#include <stdio.h>\n#include \"conf.h\"\n",
        ),
        [
            "disk.h -> src/disk.h",
            "acme/store.h -> include/acme/store.h",
            "zlib.h -> third/zlib/zlib.h",
            "same.h -> ",
            "stdio.h -> ",
            "conf.h -> include/conf.h.in",
        ]
    );
    assert_eq!(
        resolved(
            &paths,
            &[],
            "lib/acme/store.rb",
            "require 'json'\nrequire_relative 'disk'\nrequire 'acme/disk'\nrequire 'extra/more'\n",
        ),
        [
            "json -> ",
            "./disk -> lib/acme/disk.rb",
            "acme/disk -> lib/acme/disk.rb",
            "extra/more -> gems/extra/lib/extra/more.rb",
        ]
    );
    assert_eq!(
        resolved(
            &paths,
            &[],
            "scripts/deploy.sh",
            "source \"$(dirname \"$0\")/lib/common.sh\"\n. ./gone.sh\n"
        ),
        ["lib/common.sh -> scripts/lib/common.sh", "./gone.sh -> "]
    );
    assert_eq!(
        resolved(
            &paths,
            &[],
            "public/index.html",
            "<script src=\"/app.js?v=1\"></script><script src=\"https://a.b/app.js\"></script>",
        ),
        ["/app.js?v=1 -> public/app.js", "https://a.b/app.js -> "]
    );
    assert_eq!(
        resolved(
            &["test/helper.rb", "test/unit/a.rb"],
            &[],
            "test/unit/a.rb",
            "require 'helper'\nrequire 'json'\n"
        ),
        ["helper -> test/helper.rb", "json -> "]
    );
    assert_eq!(
        resolved(&paths, &[], "styles/main.css", "@import \"part\";\n"),
        ["part -> styles/_part.scss"]
    );
}

#[test]
fn a_manifest_that_cannot_be_read_says_nothing() {
    let paths = ["a/tsconfig.json", "a/b.ts", "a/c.ts"];
    for text in [
        "",
        "{",
        "[]",
        "{\"compilerOptions\": 3}",
        "{\"compilerOptions\": {\"paths\": [1], \"baseUrl\": \"../../..\"}}",
    ] {
        let manifests = [
            ("a/tsconfig.json", text),
            ("Cargo.toml", text),
            ("go.mod", text),
            ("composer.json", text),
        ];
        assert_eq!(
            resolved(&paths, &manifests, "a/b.ts", "import './c'\n"),
            ["./c -> a/c.ts"],
            "{text}"
        );
    }
}

#[test]
fn manifests_of_installed_packages_are_not_wanted() {
    for (path, wanted) in [
        ("package.json", true),
        ("a/tsconfig.base.json", true),
        ("a/Cargo.toml", true),
        ("node_modules/a/package.json", false),
        ("vendor/a/composer.json", false),
        ("a/config.json", false),
    ] {
        assert_eq!(Manifest::is_wanted(Path::new(path)), wanted, "{path}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn any_import_gives_a_few_known_files(
        target in "[a-cé./@~$\\\\:*# -]{0,12}",
        names in prop::collection::vec("[a-cé*./]{0,4}", 0..4),
        from in "([a-c]/){0,3}[a-c].(rs|ts|py|go|java|c|cs|rb|php|sh|html|css|kt)",
    ) {
        let paths = ["a/b.rs", "a/b/mod.rs", "b.py", "a/__init__.py", "a/b.ts", "c/a.rb", "a/b/c.java", "a.h", "b/a.php", "c.go"];
        let manifests = [Manifest { path: PathBuf::from("package.json"), text: "{\"name\": \"a\"}".to_owned() }];
        let resolver = ImportResolver::new(paths.iter().map(Path::new), &manifests);
        let import = Import { target, names, line: 1 };
        for language in Language::ALL {
            let files = resolver.resolve(Path::new(&from), language, &import);
            prop_assert!(files.len() <= MAX_FILES);
            prop_assert!(files.iter().all(|file| (*file as usize) < paths.len() && paths[*file as usize] != from));
        }
    }
}
