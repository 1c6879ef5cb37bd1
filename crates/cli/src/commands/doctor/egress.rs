//! What leaves the system by Murphy's forward proxy.

use std::io::{self, Write};

use murphy_project::left::some;
use murphy_system::RunningSystem;

/// Writes which hosts no service has.
pub(super) fn write(system: &RunningSystem, out: &mut dyn Write) -> io::Result<()> {
    let others = system.other_hosts();
    if others.is_empty() {
        return Ok(());
    }
    let what = match system.only_named_hosts() {
        true => "refused (`[egress] allow = \"named\"`)",
        false => "passed on unread",
    };
    let hosts = some(others.iter().map(String::as_str));
    writeln!(
        out,
        "\nHosts that belong to no service, {what}\n  {hosts}\n  With `hosts` in a service, calls to them are seen and can fail."
    )
}
