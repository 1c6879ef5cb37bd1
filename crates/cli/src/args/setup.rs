//! The arguments of commands around the configuration.

use std::path::PathBuf;

use clap::{Args, Subcommand};

const INIT_EXAMPLES: &str = "\
Examples:
  murphy init --service shop=127.0.0.1:5000 --service cart=127.0.0.1:5001 --test \"pytest -q\"
  murphy init --manage \"shop=flask --app shop run -p {port}\" --service cart=127.0.0.1:5001
  murphy init                       the services of a compose file, or asks
  murphy init --full                every key, explained

It looks for variables that hold the address of a service (CART_URL, CART_SERVICE_HOST, …): before
commands, in `.env` files, in a compose file and in code. Each is written to the service that reads
it, so that its calls go through Murphy, with where it was learnt. Without flags it asks, if there
is somebody to ask.";

#[derive(Args, Debug)]
#[command(after_help = INIT_EXAMPLES)]
pub(crate) struct InitArgs {
    /// A service that runs already, and where; may be repeated.
    #[arg(long, value_name = "NAME=HOST:PORT")]
    pub(crate) service: Vec<String>,

    /// A service that Murphy starts, and how; `{port}` is the port to listen on; may be repeated.
    #[arg(long, value_name = "NAME=COMMAND")]
    pub(crate) manage: Vec<String>,

    /// The command that tests the system.
    #[arg(long, value_name = "COMMAND")]
    pub(crate) test: Option<String>,

    /// The service that the test calls; its URL is handed to the test.
    #[arg(long, value_name = "NAME")]
    pub(crate) entry: Option<String>,

    /// The statuses of an honest refusal, for `under_fault`, such as `503,UNAVAILABLE`; or `none`
    /// [default: 502,503,504,UNAVAILABLE,DEADLINE_EXCEEDED].
    #[arg(long, value_name = "STATUSES")]
    pub(crate) under_fault: Option<String>,

    /// Write to this file.
    #[arg(long, value_name = "PATH", default_value = murphy_config::NAME)]
    pub(crate) config: PathBuf,

    /// Overwrite a file that exists.
    #[arg(long)]
    pub(crate) force: bool,

    /// Print a file with every key explained; nothing is written.
    #[arg(long, exclusive = true)]
    pub(crate) full: bool,
}

#[derive(Args, Debug)]
pub(crate) struct CheckArgs {
    /// Read this file instead of the nearest murphy.toml, here or above.
    #[arg(long, value_name = "PATH")]
    pub(crate) config: Option<PathBuf>,

    /// A test command to be used instead of the scenarios in the file; or, beginning with `-`,
    /// arguments that are added to the command of the only one.
    #[arg(last = true, value_name = "COMMAND|ARGUMENTS")]
    pub(crate) command: Vec<String>,
}

const CA_EXAMPLES: &str = "\
What Murphy starts is told to trust its certificate. For what it does not start:
  export SSL_CERT_FILE=$(murphy ca export)          curl, OpenSSL, Python, Go, Ruby
  export NODE_EXTRA_CA_CERTS=$(murphy ca path)      Node
  docker run -v $(murphy ca path):/murphy.pem -e NODE_EXTRA_CA_CERTS=/murphy.pem …

Nothing is changed on this machine, and the certificate lasts for seven days at most.";

#[derive(Args, Debug)]
#[command(after_help = CA_EXAMPLES)]
pub(crate) struct CaArgs {
    #[command(subcommand)]
    pub(crate) command: CaCommand,
}

#[derive(Subcommand, Debug)]
pub(crate) enum CaCommand {
    /// Print the path of the certificate alone; made if there is none.
    Path(CaFileArgs),
    /// Print the path of a file that holds what this machine trusts, and the certificate.
    Export(CaFileArgs),
    /// Make a new one. What was told to trust the old one must be told again.
    Rotate(CaFileArgs),
}

#[derive(Args, Debug)]
pub(crate) struct CaFileArgs {
    /// Read this file instead of the nearest murphy.toml, here or above.
    #[arg(long, value_name = "PATH")]
    pub(crate) config: Option<PathBuf>,
}

const MODES_EXAMPLES: &str = "\
Examples:
  murphy modes                all of them
  murphy modes after:reset    one: what it shows, what it costs, a demo of it
  murphy modes http           what a word for several modes stands for";

#[derive(Args, Debug)]
#[command(after_help = MODES_EXAMPLES)]
pub(crate) struct ModesArgs {
    /// Only this mode, such as `503`, `after:reset` or `delay:2s`, or a list of them.
    #[arg(value_name = "MODE")]
    pub(crate) mode: Option<String>,
}

#[derive(Args, Debug)]
pub(crate) struct CompletionsArgs {
    /// The shell.
    pub(crate) shell: clap_complete::Shell,
}
