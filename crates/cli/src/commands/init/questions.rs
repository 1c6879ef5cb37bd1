//! A few questions, for people at a terminal.

use std::io::{self, BufRead, Write};

use murphy_discover::plan::{Origin, Owner, Plan, Service, Wire};
use murphy_discover::{address, command_line, refusals, test_files};

/// Asks for services, unless a compose file has some that will do, and for the
/// test; an empty answer goes on.
pub(super) fn ask_for_services(
    plan: &mut Plan,
    answers: &mut dyn BufRead,
    out: &mut dyn Write,
) -> io::Result<()> {
    if !plan.services.is_empty() {
        let names: Vec<&str> = plan.services.iter().map(|it| it.name.as_str()).collect();
        let found = || plan.found_in.first()?.split(':').next();
        let file = plan
            .compose
            .as_deref()
            .or_else(found)
            .unwrap_or("the project");
        let ask = format!("{file} has {}. Use these? [Y/n]: ", names.join(", "));
        let answer = question(answers, out, &ask)?;
        if answer.is_some_and(|it| it.to_lowercase().starts_with('n')) {
            plan.services.clear();
            plan.left_out.clear();
            plan.compose = None;
            plan.found_in.clear();
        }
    }
    if plan.services.is_empty() {
        list_services(plan, answers, out)?;
    }
    let ask = match plan.files.len() {
        0 => "The command that tests it (such as pytest -q): ".to_owned(),
        count => format!("The command that tests it [{count} test files, a scenario each]: "),
    };
    if let Some(line) = question(answers, out, &ask)? {
        let test = command_line::test(&line);
        plan.files = test_files::of_suite(&test.command, &plan.files);
        plan.test = Some(test);
    }
    if let [first, _, ..] = plan.services.as_slice() {
        let first = first.name.clone();
        let ask = format!("The service that the test calls [{first}]: ");
        plan.entry = Some(question(answers, out, &ask)?.unwrap_or(first));
    }
    Ok(())
}

fn list_services(
    plan: &mut Plan,
    answers: &mut dyn BufRead,
    out: &mut dyn Write,
) -> io::Result<()> {
    writeln!(
        out,
        "Which services does your system have? (an empty line ends the list)"
    )?;
    while let Some(name) = question(answers, out, "  name of a service: ")? {
        let ask = format!("  where {name} runs (host:port), or the command that starts it: ");
        if let Some(answer) = question(answers, out, &ask)? {
            plan.services.push(service(&name, &answer));
        }
    }
    Ok(())
}

/// Asks how callers are told of services that no variable leads to.
pub(super) fn ask_for_wires(
    plan: &mut Plan,
    answers: &mut dyn BufRead,
    out: &mut dyn Write,
) -> io::Result<()> {
    let entry = plan.entry().map(str::to_owned);
    let callers: Vec<String> = {
        let started = plan.services.iter().filter(|it| it.is_started());
        started.map(|it| it.name.clone()).collect()
    };
    for callee in plan.services.clone() {
        let name = &callee.name;
        let callers: Vec<&String> = callers.iter().filter(|it| *it != name).collect();
        if Some(name) == entry.as_ref() || callers.is_empty() || is_told(plan, name) {
            continue;
        }
        let ask = format!(
            "The variable that holds the address of {name} for its callers, such as {}_URL: ",
            name.to_uppercase().replace('-', "_")
        );
        let Some(variable) = question(answers, out, &ask)? else {
            continue;
        };
        plan.wires.extend(callers.into_iter().map(|caller| {
            Wire {
                owner: Owner::Service(caller.clone()),
                value: address::template(
                    name,
                    address::kind(&variable).unwrap_or(address::Kind::Url),
                    None,
                    false,
                )
                .unwrap_or_default(),
                variable: variable.clone(),
                callee: name.clone(),
                learnt: "as answered".to_owned(),
            }
        }));
    }
    Ok(())
}

/// Whether somebody is told where a service is.
fn is_told(plan: &Plan, name: &str) -> bool {
    let named = format!("{{{name}.");
    let in_command = |it: &Service| match &it.origin {
        Origin::Started { command, .. } => command.contains(&named),
        Origin::Running(_) => false,
    };
    plan.wires.iter().any(|it| it.callee == name) || plan.services.iter().any(in_command)
}

/// Asks until the answer makes sense.
pub(super) fn ask_for_refusals(
    plan: &mut Plan,
    answers: &mut dyn BufRead,
    out: &mut dyn Write,
) -> io::Result<()> {
    let ask = format!(
        "Which statuses are an honest refusal? (`none` for none) [{}]: ",
        refusals::USUAL.join(", ")
    );
    loop {
        let answer = question(answers, out, &ask)?;
        match refusals::read(&answer.unwrap_or_default()) {
            Ok(statuses) => {
                plan.refusals = statuses;
                return Ok(());
            }
            Err(refused) => writeln!(out, "{refused}")?,
        }
    }
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
fn service(name: &str, answer: &str) -> Service {
    let port = answer.rsplit_once(':').map_or("", |(_, port)| port);
    match !answer.contains(char::is_whitespace) && port.parse::<u16>().is_ok() {
        true => Service::of(name, Origin::Running(answer.to_owned())),
        false => command_line::started(name, answer),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(mut plan: Plan, text: &str) -> (Plan, String) {
        let (mut answers, mut out) = (text.as_bytes(), Vec::new());
        ask_for_services(&mut plan, &mut answers, &mut out).unwrap();
        ask_for_wires(&mut plan, &mut answers, &mut out).unwrap();
        ask_for_refusals(&mut plan, &mut answers, &mut out).unwrap();
        (plan, String::from_utf8(out).unwrap())
    }

    #[test]
    fn answers_become_a_plan() {
        let answers =
            "shop\nflask run -p {port}\ncart\nlocalhost:5001\n\npytest -q\n\nCART_HOST\n503\n";
        let (plan, _) = answered(Plan::default(), answers);
        let services = vec![
            command_line::started("shop", "flask run -p {port}"),
            Service::of("cart", Origin::Running("localhost:5001".to_owned())),
        ];
        assert_eq!(plan.services, services);
        assert_eq!(plan.test, Some(command_line::test("pytest -q")));
        assert_eq!(plan.entry.as_deref(), Some("shop"));
        assert_eq!(plan.refusals, ["503"]);
        let wire = &plan.wires[0];
        assert_eq!(wire.owner, Owner::Service("shop".to_owned()));
        assert_eq!(
            (&*wire.variable, &*wire.value),
            ("CART_HOST", "{cart.address}")
        );
    }

    #[test]
    fn a_status_that_is_no_refusal_is_asked_for_again() {
        let (plan, said) = answered(Plan::default(), "\n\n500\nnone\n");
        assert!(said.contains("500 is never an honest refusal"), "{said}");
        assert_eq!(plan.refusals, [""; 0]);
    }

    #[test]
    fn what_a_compose_file_has_can_be_taken_or_left() {
        let plan = || Plan {
            services: vec![Service::of(
                "shop",
                Origin::Running("127.0.0.1:1".to_owned()),
            )],
            compose: Some("compose.yaml".to_owned()),
            ..Plan::default()
        };
        let (taken, said) = answered(plan(), "\n\n\n");
        assert!(said.contains("compose.yaml has shop. Use these?"), "{said}");
        assert_eq!(taken.services.len(), 1);
        let (left, _) = answered(plan(), "no\n\n\n\n");
        assert_eq!((left.services.len(), left.compose), (0, None));
    }

    #[test]
    fn nobody_has_to_answer() {
        let (plan, _) = answered(Plan::default(), "");
        let usual = Plan {
            refusals: refusals::usual(),
            ..Plan::default()
        };
        assert_eq!(plan, usual);
    }
}
