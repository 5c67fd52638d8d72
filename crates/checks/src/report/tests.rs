use super::*;

struct Case {
    runner: &'static str,
    output: &'static str,
    counts: (Option<u64>, Option<u64>, Option<u64>),
    /// "name @ file:line | message"
    failures: &'static [&'static str],
}

const fn some(passed: u64, failed: u64, skipped: u64) -> (Option<u64>, Option<u64>, Option<u64>) {
    (Some(passed), Some(failed), Some(skipped))
}

const CASES: &[Case] = &[
    Case {
        runner: "cargo test, two binaries",
        output: "running 2 tests\ntest tests::adds ... ok\ntest tests::costs ... FAILED\n\nfailures:\n\n---- tests::costs stdout ----\n\nthread 'tests::costs' (4711) panicked at src/lib.rs:9:5:\nassertion `left == right` failed\n  left: 2\n right: 1\nnote: run with `RUST_BACKTRACE=1`\n\n\nfailures:\n    tests::costs\n\ntest result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\nrunning 1 test\ntest src/lib.rs - price (line 3) ... FAILED\n\ntest result: FAILED. 0 passed; 1 failed; 2 ignored; 0 measured; 0 filtered out; finished in 0.20s\n\nerror: test failed, to rerun pass `--doc`\n",
        counts: some(1, 2, 2),
        failures: &[
            "tests::costs @ src/lib.rs:9 | assertion `left == right` failed; left: 2; right: 1",
            "src/lib.rs - price (line 3) @ src/lib.rs:3 | ",
        ],
    },
    Case {
        runner: "cargo test that does not build",
        output: "   Compiling shop v0.1.0 (/ws)\nerror[E0308]: mismatched types\n --> src/lib.rs:2:5\n  |\n1 | pub fn price() -> u32 {\n\nerror: could not compile `shop` (lib) due to 1 previous error\n",
        counts: (None, None, None),
        failures: &["error[E0308]: mismatched types @ src/lib.rs:2 | "],
    },
    Case {
        runner: "nextest",
        output: "    Starting 2 tests across 1 binary\n        PASS [   0.004s] (1/2) shop tests::adds\n        FAIL [   0.005s] (2/2) shop tests::costs\n  stderr ───\n\n    thread 'tests::costs' panicked at src/lib.rs:9:5:\n    boom\n\n     Summary [   0.006s] 2 tests run: 1 passed, 1 failed, 0 skipped\n        FAIL [   0.005s] (2/2) shop tests::costs\nerror: test run failed\n",
        counts: some(1, 1, 0),
        failures: &["shop tests::costs @ src/lib.rs:9 | boom"],
    },
    Case {
        runner: "go test",
        output: "--- FAIL: TestPrice (0.00s)\n    --- FAIL: TestPrice/large (0.00s)\n        price_test.go:10: got 2, want 1\nFAIL\nFAIL\texample.com/shop\t0.002s\nok  \texample.com/shop/till\t0.001s\nFAIL\n",
        counts: (None, Some(1), None),
        failures: &["TestPrice/large @ price_test.go:10 | got 2, want 1"],
    },
    Case {
        runner: "go test that does not build",
        output: "# example.com/shop\n./price.go:3:5: undefined: y\nFAIL\texample.com/shop [build failed]\n",
        counts: (None, Some(1), None),
        failures: &["example.com/shop does not build @ ./price.go:3 | undefined: y"],
    },
    Case {
        runner: "pytest",
        output: "============================= test session starts ==============================\ncollected 3 items\n\ntests/test_a.py .F.                                                      [100%]\n\n=================================== FAILURES ===================================\n\ntests/test_a.py:5: AssertionError\n=========================== short test summary info ============================\nFAILED tests/test_a.py::test_price - assert 2 == 1\n========================= 1 failed, 2 passed in 0.03s ==========================\n",
        counts: some(2, 1, 0),
        failures: &["tests/test_a.py::test_price @ tests/test_a.py:5 | assert 2 == 1"],
    },
    Case {
        runner: "pytest, quiet and good",
        output: "...                                                                      [100%]\n3 passed, 1 skipped in 0.01s\n",
        counts: some(3, 0, 1),
        failures: &[],
    },
    Case {
        runner: "unittest",
        output: ".F\n======================================================================\nFAIL: test_price (tests.test_a.Shop.test_price)\n----------------------------------------------------------------------\nTraceback (most recent call last):\n  File \"/ws/tests/test_a.py\", line 9, in test_price\n    self.assertEqual(price(), 1)\nAssertionError: 2 != 1\n\n----------------------------------------------------------------------\nRan 2 tests in 0.001s\n\nFAILED (failures=1)\n",
        counts: some(1, 1, 0),
        failures: &[
            "test_price (tests.test_a.Shop.test_price) @ /ws/tests/test_a.py:9 | AssertionError: 2 != 1",
        ],
    },
    Case {
        runner: "unittest, good",
        output: "...\n----------------------------------------------------------------------\nRan 3 tests in 0.001s\n\nOK (skipped=1)\n",
        counts: some(2, 0, 1),
        failures: &[],
    },
    Case {
        runner: "jest",
        output: "FAIL src/price.test.js\n  shop\n    ✓ adds (1 ms)\n    ✕ costs (2 ms)\n\n  ● shop › costs\n\n    expect(received).toBe(expected)\n\n    Expected: 1\n    Received: 2\n\n      at Object.toBe (node_modules/expect/index.js:1:1)\n      at Object.<anonymous> (src/price.test.js:5:19)\n\nTest Suites: 1 failed, 1 total\nTests:       1 failed, 1 passed, 2 total\nSnapshots:   0 total\n",
        counts: some(1, 1, 0),
        failures: &["shop › costs @ src/price.test.js:5 | expect(received).toBe(expected)"],
    },
    Case {
        runner: "vitest",
        output: " ❯ src/price.test.ts (2 tests | 1 failed) 5ms\n\n FAIL  src/price.test.ts > shop > costs\nAssertionError: expected 2 to be 1\n ❯ src/price.test.ts:5:19\n\n Test Files  1 failed (1)\n      Tests  1 failed | 1 passed (2)\n",
        counts: some(1, 1, 0),
        failures: &["shop > costs @ src/price.test.ts:5 | AssertionError: expected 2 to be 1"],
    },
    Case {
        runner: "mocha",
        output: "  shop\n    ✔ adds\n    1) costs\n\n\n  1 passing (5ms)\n  1 failing\n\n  1) shop\n       costs:\n\n      AssertionError [ERR_ASSERTION]: 2 == 1\n      + expected - actual\n\n      at Context.<anonymous> (test/price.js:7:12)\n      at process.processImmediate (node:internal/timers:476:21)\n",
        counts: some(1, 1, 0),
        failures: &["shop costs @ test/price.js:7 | AssertionError [ERR_ASSERTION]: 2 == 1"],
    },
    Case {
        runner: "node --test",
        output: "✔ adds (0.4ms)\n✖ costs (0.6ms)\nℹ tests 2\nℹ pass 1\nℹ fail 1\nℹ cancelled 0\nℹ skipped 0\nℹ todo 0\nℹ duration_ms 50\n\n✖ failing tests:\n\ntest at test/price.test.js:6:1\n✖ costs (0.6ms)\n  AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:\n",
        counts: some(1, 1, 0),
        failures: &[
            "costs @ test/price.test.js:6 | AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:",
        ],
    },
    Case {
        runner: "node --test as TAP",
        output: "TAP version 13\nok 1 - adds\nnot ok 2 - costs\n  ---\n  location: '/ws/test/price.test.js:6:1'\n  ...\n1..2\n# tests 2\n# pass 1\n# fail 1\n",
        counts: some(1, 1, 0),
        failures: &["costs @ /ws/test/price.test.js:6 | "],
    },
    Case {
        runner: "maven",
        output: "[INFO] Running ShopTest\n[ERROR] Tests run: 2, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 0.02 s <<< FAILURE! -- in ShopTest\n[ERROR] ShopTest.costs -- Time elapsed: 0.003 s <<< FAILURE!\n[INFO] Results:\n[ERROR] Failures: \n[ERROR]   ShopTest.costs:12 expected: <1> but was: <2>\n[INFO] \n[ERROR] Tests run: 2, Failures: 1, Errors: 0, Skipped: 0\n",
        counts: some(1, 1, 0),
        failures: &["ShopTest.costs @ ShopTest.java:12 | expected: <1> but was: <2>"],
    },
    Case {
        runner: "maven that does not build",
        output: "[ERROR] COMPILATION ERROR : \n[ERROR] /ws/src/main/java/Shop.java:[10,5] ';' expected\n",
        counts: (None, None, None),
        failures: &["';' expected @ /ws/src/main/java/Shop.java:10 | "],
    },
    Case {
        runner: "gradle",
        output: "> Task :test FAILED\n\nShopTest > costs() FAILED\n    org.opentest4j.AssertionFailedError: expected: <1> but was: <2>\n        at ShopTest.java:12\n\n2 tests completed, 1 failed\n",
        counts: some(1, 1, 0),
        failures: &[
            "ShopTest > costs() @ ShopTest.java:12 | org.opentest4j.AssertionFailedError: expected: <1> but was: <2>",
        ],
    },
    Case {
        runner: "rspec",
        output: "F.\n\nFinished in 0.01 seconds\n2 examples, 1 failure\n\nFailed examples:\n\nrspec ./spec/shop_spec.rb:5 # Shop costs one\n",
        counts: some(1, 1, 0),
        failures: &["Shop costs one @ ./spec/shop_spec.rb:5 | "],
    },
    Case {
        runner: "minitest",
        output: "  1) Failure:\nShopTest#test_price [test/shop_test.rb:9]:\nExpected: 1\n  Actual: 2\n\n3 runs, 3 assertions, 1 failures, 0 errors, 0 skips\n",
        counts: some(2, 1, 0),
        failures: &["ShopTest#test_price @ test/shop_test.rb:9 | Expected: 1"],
    },
    Case {
        runner: "phpunit",
        output: "1) ShopTest::testPrice\nFailed asserting that 2 matches expected 1.\n\n/ws/tests/ShopTest.php:12\n\nFAILURES!\nTests: 3, Assertions: 3, Failures: 1.\n",
        counts: some(2, 1, 0),
        failures: &[
            "ShopTest::testPrice @ /ws/tests/ShopTest.php:12 | Failed asserting that 2 matches expected 1.",
        ],
    },
    Case {
        runner: "phpunit, good",
        output: "...\n\nOK (3 tests, 5 assertions)\n",
        counts: some(3, 0, 0),
        failures: &[],
    },
    Case {
        runner: "tsc",
        output: "src/a.ts(3,5): error TS2322: Type 'string' is not assignable to type 'number'.\n\u{1b}[96msrc/b.ts\u{1b}[0m:\u{1b}[93m7\u{1b}[0m:1 - \u{1b}[91merror\u{1b}[0m TS2304: Cannot find name 'x'.\n",
        counts: (None, Some(2), None),
        failures: &[
            "TS2322: Type 'string' is not assignable to type 'number'. @ src/a.ts:3 | ",
            "TS2304: Cannot find name 'x'. @ src/b.ts:7 | ",
        ],
    },
    Case {
        runner: "eslint",
        output: "\n/ws/src/a.js\n  3:5  error  'x' is not defined  no-undef\n  4:1  warning  unused  no-unused\n\n✖ 2 problems (1 error, 1 warning)\n",
        counts: (None, Some(1), None),
        failures: &["'x' is not defined no-undef @ /ws/src/a.js:3 | "],
    },
    Case {
        runner: "dotnet",
        output: "  Failed Shop.Tests.Costs [12 ms]\n  Error Message:\n   Assert.Equal() Failure\n  Stack Trace:\n     at Shop.Tests.Costs() in /ws/Tests.cs:line 9\n\nFailed!  - Failed:     1, Passed:     2, Skipped:     0, Total:     3, Duration: 5 ms\n",
        counts: some(2, 1, 0),
        failures: &["Shop.Tests.Costs @ /ws/Tests.cs:9 | Assert.Equal() Failure"],
    },
];

#[test]
fn each_runner_is_understood() {
    for case in CASES {
        let report = read(case.output).unwrap_or_else(|| panic!("{}: nothing was read", case.runner));
        let failures: Vec<String> = report
            .failures
            .iter()
            .map(|failure| {
                let file = failure.file.as_deref().unwrap_or("?");
                let line = failure.line.map_or("?".to_owned(), |line| line.to_string());
                format!("{} @ {file}:{line} | {}", failure.name, failure.message)
            })
            .collect();
        assert_eq!(failures, case.failures, "{}", case.runner);
        assert_eq!(
            (report.passed, report.failed, report.skipped),
            case.counts,
            "{}",
            case.runner
        );
    }
}

#[test]
fn output_of_no_runner_says_nothing() {
    for output in [
        "",
        "hello\n",
        "all tests pass\n",
        "Done in 3 s\n",
        "FAILED to open a file\n",
        "1) first\n2) second\n",
    ] {
        assert_eq!(read(output), None, "{output:?}");
    }
}

#[test]
fn long_lists_and_messages_are_cut() {
    let mut output = String::new();
    for number in 0..200 {
        output.push_str(&format!("FAILED a.py::test_{number} - {}\n", "x".repeat(1_000)));
    }
    output.push_str("==== 200 failed in 1.00s ====\n");
    let report = read(&output).unwrap();
    assert_eq!(report.failed, Some(200));
    assert_eq!(report.failures.len(), MOST_FAILURES);
    assert!(
        report
            .failures
            .iter()
            .all(|failure| failure.message.chars().count() <= MESSAGE + 1)
    );
}
