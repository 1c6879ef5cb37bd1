//! The examples of the guide's page on modes: each command that it names finds
//! what the page says, so its demo fails under that mode. Without this test
//! the page could name a system that has no such bug.

use std::process::Command;

const PAGE: &str = include_str!("../../../docs/guide/modes.md");

#[test]
fn every_example_of_the_guide_finds_something() {
    let commands: Vec<&str> = PAGE
        .split('`')
        .filter(|part| part.starts_with("murphy demo "))
        .collect();
    assert!(commands.len() >= 15, "one for each mode: {commands:?}");
    let directory = tempfile::tempdir().unwrap();
    for command in commands {
        let output = Command::new(env!("CARGO_BIN_EXE_murphy"))
            .args(command.split_whitespace().skip(1))
            .arg("--simulate")
            .current_dir(directory.path())
            .output()
            .unwrap();
        let printed = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{command}: {printed}");
    }
}
