//! A few questions, for people at a terminal.

use std::io::{self, BufRead, Write};

use super::{Origin, Plan};

/// Asks until there is enough; an empty answer goes on.
pub(super) fn ask(answers: &mut dyn BufRead, out: &mut dyn Write) -> io::Result<Plan> {
    let mut plan = Plan::default();
    writeln!(
        out,
        "Which services does your system have? (an empty line ends the list)"
    )?;
    while let Some(name) = question(answers, out, "  name of a service: ")? {
        let ask = format!("  where {name} runs (host:port), or the command that starts it: ");
        if let Some(answer) = question(answers, out, &ask)? {
            plan.services.push((name, origin(answer)));
        }
    }
    plan.test = question(
        answers,
        out,
        "The command that tests it (such as pytest -q): ",
    )?;
    if let [(first, _), _, ..] = plan.services.as_slice() {
        let ask = format!("The service that the test calls [{first}]: ");
        let first = first.clone();
        plan.entry = Some(question(answers, out, &ask)?.unwrap_or(first));
    }
    Ok(plan)
}

fn question(
    answers: &mut dyn BufRead,
    out: &mut dyn Write,
    text: &str,
) -> io::Result<Option<String>> {
    write!(out, "{text}")?;
    out.flush()?;
    let mut answer = String::new();
    answers.read_line(&mut answer)?;
    let answer = answer.trim();
    Ok((!answer.is_empty()).then(|| answer.to_owned()))
}

/// An address ends in a port and has no blanks.
fn origin(answer: String) -> Origin {
    let port = answer.rsplit_once(':').map_or("", |(_, port)| port);
    match !answer.contains(char::is_whitespace) && port.parse::<u16>().is_ok() {
        true => Origin::Running(answer),
        false => Origin::Started(answer),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(text: &str) -> Plan {
        ask(&mut text.as_bytes(), &mut Vec::new()).unwrap()
    }

    #[test]
    fn answers_become_a_plan() {
        let plan = answered("shop\nflask run -p {port}\ncart\nlocalhost:5001\n\npytest -q\n\n");
        let services = vec![
            (
                "shop".to_owned(),
                Origin::Started("flask run -p {port}".to_owned()),
            ),
            (
                "cart".to_owned(),
                Origin::Running("localhost:5001".to_owned()),
            ),
        ];
        assert_eq!(plan.services, services);
        assert_eq!(plan.test.as_deref(), Some("pytest -q"));
        assert_eq!(plan.entry.as_deref(), Some("shop"));
    }

    #[test]
    fn nobody_has_to_answer() {
        assert_eq!(answered(""), Plan::default());
    }
}
