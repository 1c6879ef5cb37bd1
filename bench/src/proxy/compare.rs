//! The story of a comparison.

use anyhow::Result;

use super::args::Options;
use super::bars::{self, Bar, Judged};
use super::load::Generator;
use super::protocol::Doors;
use super::rounds::{Results, measure};
use super::scratch::Scratch;
use super::subject::Subject;
use super::tls::Certificate;
use super::{raw, table, upstream};

/// Measures and prints everything; whether all bars are met.
pub async fn run(options: &Options) -> Result<bool> {
    if let Some(path) = &options.json {
        // Now, rather than after minutes of measuring, is the time to fail.
        raw::write(path, &[], &[])?;
    }
    let scratch = Scratch::new()?;
    let generator = Generator::new(&scratch)?;
    let tls = match options.tls {
        true => Some(Certificate::make(&scratch)?),
        false => None,
    };
    let upstream = upstream::start(options.threads, tls.as_ref()).await?;
    let mut subjects = start_all(options, &upstream.doors, &scratch, tls.as_ref()).await?;
    check_all(options, &mut subjects).await?;
    let versions = versions(&generator, &subjects);
    introduce(options, &versions);
    let mut all = Vec::new();
    for shape in options.shapes() {
        let (rounds, time) = (options.rounds, options.time());
        let results = measure(shape, &mut subjects, &generator, rounds, time).await?;
        table::print(&results);
        all.push(results);
    }
    if let Some(path) = &options.json {
        raw::write(path, &versions, &all)?;
    }
    Ok(print_bars(options, &all))
}

async fn start_all(
    options: &Options,
    upstream: &Doors,
    scratch: &Scratch,
    tls: Option<&Certificate>,
) -> Result<Vec<Subject>> {
    let mut subjects = Vec::new();
    for kind in options.kinds() {
        let other = options.against.as_deref();
        let subject = Subject::start(kind, options.threads, upstream, scratch, tls, other);
        subjects.push(subject.await?);
    }
    Ok(subjects)
}

/// Nothing is measured that answers wrongly.
async fn check_all(options: &Options, subjects: &mut [Subject]) -> Result<()> {
    for subject in subjects {
        for protocol in options.only.iter().copied() {
            subject.check(protocol).await?;
        }
    }
    Ok(())
}

fn versions(generator: &Generator, subjects: &[Subject]) -> Vec<String> {
    let tools = subjects.iter().filter_map(|subject| subject.kind.tool());
    let others = tools.filter_map(|tool| Some(tool.version(&tool.find_or_install().ok()?)));
    std::iter::once(generator.version()).chain(others).collect()
}

fn introduce(options: &Options, versions: &[String]) {
    println!(
        "Medians of rounds of {} s: {}; worker threads of every proxy: {}.",
        options.seconds, options.rounds, options.threads
    );
    println!("CPU us: processor time of the proxy per request, in microseconds.");
    println!("Ratios of CPU us: each round's own, of which the median.");
    println!("Murphy, of interest: calls of an execution whose faultload does not fail them.");
    println!("{}.", versions.join(", "));
}

fn print_bars(options: &Options, all: &[Results]) -> bool {
    let mut bars: Vec<Bar> = match options.tls {
        true => bars::OVER_TLS.into(),
        false => bars::BARS.into(),
    };
    bars.extend(bars::against_the_other());
    let judged = all.iter().flat_map(|results| bars::judge(&bars, results));
    let judged: Vec<Judged> = judged.collect();
    if judged.is_empty() {
        println!("\nNo bar applies to these subjects.");
        return true;
    }
    let missed = judged.iter().filter(|judged| judged.missed()).count();
    println!();
    println!("CPU per request, as a ratio");
    for judged in &judged {
        println!("  {judged}");
    }
    println!("{} of {} bars are met", judged.len() - missed, judged.len());
    missed == 0
}
