//! Asks as Rust does and prints what it saw: ask HTTP/1.1|HTTP/2 URL SECONDS.
//! It fails where that is no price.

use std::error::Error;
use std::process::ExitCode;
use std::time::Duration;

use reqwest::blocking::Client;

const PRICE: &str = r#"{"price": 3}"#;

fn main() -> ExitCode {
    let seen = ask().unwrap_or_else(|error| innermost(&*error));
    println!("{seen}");
    match seen.as_str() {
        "ok" => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}

fn ask() -> Result<String, Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [version, url, seconds] = arguments.as_slice() else {
        return Err("ask HTTP/1.1|HTTP/2 URL SECONDS".into());
    };
    let client = Client::builder().timeout(Duration::from_secs_f64(seconds.parse()?));
    let client = match version.as_str() {
        "HTTP/1.1" => client.http1_only(),
        _ => client,
    };
    let answer = client.build()?.get(url).send()?;
    let status = answer.status().as_u16();
    let body = answer.text()?;
    Ok(match body == PRICE {
        true => "ok".to_owned(),
        false => format!("{status} '{body}'"),
    })
}

/// The error that all others are about.
fn innermost(mut error: &dyn Error) -> String {
    while let Some(source) = error.source() {
        error = source;
    }
    error.to_string()
}
