//! Where Murphy's processor time goes.
//!
//! Owns running `perf` beside the load and printing what it found, by symbol.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context, Result, ensure};
use tokio::process::Command;

use super::args::Options;
use super::load::Generator;
use super::murphy::Duty;
use super::protocol::Shape;
use super::scratch::Scratch;
use super::subject::{Kind, Subject};
use super::tools::find_program;
use super::upstream;

/// The duties worth looking into: the others differ from the second by a
/// look-up.
const DUTIES: [Duty; 3] = [Duty::PassThrough, Duty::NoMatch, Duty::Match];

/// Symbols below this share of all time are left out, in percent.
const SMALLEST: &str = "0.7";

/// Profiles each duty under each shape of load.
pub async fn show(options: &Options) -> Result<()> {
    let perf = find_program("perf")
        .context("`perf` is missing; install it (Debian: linux-perf) or leave out --profile")?;
    let scratch = Scratch::new()?;
    let generator = Generator::new(&scratch)?;
    let upstream = upstream::start(options.threads, None).await?;
    for duty in DUTIES {
        let kind = Kind::Murphy(duty);
        let mut subject =
            Subject::start(kind, options.threads, &upstream.doors, &scratch, None, None).await?;
        for shape in options.shapes() {
            println!("\n{kind}, {shape}");
            let profile = record(&perf, &mut subject, shape, &generator, options, &scratch).await?;
            report(&perf, &profile).await?;
        }
    }
    Ok(())
}

async fn record(
    perf: &Path,
    subject: &mut Subject,
    shape: Shape,
    generator: &Generator,
    options: &Options,
    scratch: &Scratch,
) -> Result<PathBuf> {
    let profile = scratch.path().join("perf.data");
    let process = subject.group().context("Murphy runs in a process")?;
    let headers = subject.prepare().await?;
    let mut recording = Command::new(perf)
        .args([
            "record",
            "--quiet",
            "--freq",
            "4999",
            "--pid",
            &process.to_string(),
        ])
        .arg("--output")
        .arg(&profile)
        .args(["--", "sleep", &options.seconds.to_string()])
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .spawn()?;
    let url = subject.url(shape.protocol);
    generator.run(shape, &url, &headers, options.time()).await?;
    let status = recording.wait().await?;
    subject.settle().await?;
    ensure!(status.success(), "perf record ended with {status}");
    Ok(profile)
}

async fn report(perf: &Path, profile: &Path) -> Result<()> {
    let output = Command::new(perf)
        .args(["report", "--stdio", "--no-children", "--sort", "dso,symbol"])
        .args(["--percent-limit", SMALLEST, "--input"])
        .arg(profile)
        .stdin(Stdio::null())
        .output()
        .await?;
    let text = String::from_utf8_lossy(&output.stdout);
    let lines = text
        .lines()
        .filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    for line in lines {
        println!("{line}");
    }
    Ok(())
}
