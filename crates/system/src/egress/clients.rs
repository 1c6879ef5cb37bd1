//! What wants which variable.
//!
//! Owns the table of runtimes, how they are known by their program and their
//! greeting, and whether a process was told to trust us. Go, Rust and others
//! that are compiled cannot be known by their program.

use std::fs;
use std::path::PathBuf;

use murphy_proxy::{Client, Hello};

use super::{AuthorityFiles, BESIDES, JAVA};
use crate::proc;

/// Knows clients by their processes.
pub(crate) struct Clients {
    certificate: PathBuf,
    folder: PathBuf,
}

/// A runtime, and the variables by which it comes to trust somebody.
#[derive(Debug)]
struct Runtime {
    name: &'static str,
    /// The first that is set counts. None is set: the first is to be.
    variables: &'static [&'static str],
    looks_late: bool,
}

const NODE: Runtime = Runtime {
    name: "Node",
    variables: &[BESIDES],
    looks_late: true,
};
const DENO: Runtime = Runtime {
    name: "Deno",
    variables: &["DENO_CERT"],
    looks_late: false,
};
const JVM: Runtime = Runtime {
    name: "Java",
    variables: &[JAVA, "JDK_JAVA_OPTIONS"],
    looks_late: false,
};
const CURL: Runtime = Runtime {
    name: "curl",
    variables: &["CURL_CA_BUNDLE", "SSL_CERT_FILE"],
    looks_late: false,
};
const PYTHON: Runtime = Runtime {
    name: "Python",
    variables: &["SSL_CERT_FILE"],
    looks_late: false,
};
const REQUESTS: Runtime = Runtime {
    name: "Python (requests, boto3)",
    variables: &["REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"],
    looks_late: false,
};
const GRPCIO: Runtime = Runtime {
    name: "Python (grpcio)",
    variables: &["GRPC_DEFAULT_SSL_ROOTS_FILE_PATH"],
    looks_late: false,
};

impl Runtime {
    fn of(program: &str, hello: &Hello) -> Option<Self> {
        let version = |it: char| it.is_ascii_digit() || it == '.';
        match program.trim_end_matches(version) {
            "node" | "nodejs" => Some(NODE),
            "deno" => Some(DENO),
            "java" => Some(JVM),
            "curl" => Some(CURL),
            "python" | "pypy" => Some(Self::of_python(hello)),
            _ => None,
        }
    }

    /// The libraries differ in what they offer: gRPC has HTTP/2 and nothing
    /// else, and urllib3, which requests and boto3 stand on, takes no tickets.
    fn of_python(hello: &Hello) -> Self {
        match hello.protocols.as_slice() {
            [only] if only == "h2" => GRPCIO,
            _ if !hello.takes_tickets => REQUESTS,
            _ => PYTHON,
        }
    }
}

impl Clients {
    pub(crate) fn new(files: &AuthorityFiles) -> Self {
        let folder = files.folder.canonicalize();
        Clients {
            certificate: files.certificate.clone(),
            folder: folder.unwrap_or_else(|_| files.folder.clone()),
        }
    }

    /// The client that has a socket open and has greeted like that.
    pub(crate) fn of_socket(&self, inode: u32, hello: &Hello) -> Option<Client> {
        let pid = proc::with_socket(inode)?;
        let runtime = Runtime::of(&proc::program(pid)?, hello)?;
        let set = runtime.variables.iter().find_map(|name| {
            let value = proc::variable(pid, name)?;
            (!value.is_empty()).then_some((*name, value))
        });
        let (variable, is_told) = match set {
            Some((name, value)) => (name, self.is_in(pid, &value)),
            None => (runtime.variables[0], false),
        };
        Some(Client {
            runtime: runtime.name,
            variable,
            is_told,
            looks_late: runtime.looks_late,
        })
    }

    /// Whether what a variable says leads to our certificate: to a file that
    /// has it in it, or, among options for Java, to a store of ours.
    fn is_in(&self, pid: i32, value: &str) -> bool {
        let ours = fs::read_to_string(&self.certificate).unwrap_or_default();
        let named = fs::read_to_string(proc::file_of(pid, value));
        match named {
            Ok(named) => !ours.is_empty() && named.contains(&ours),
            Err(_) => value.contains(&format!("={}", self.folder.display())),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::os::fd::OwnedFd;
    use std::path::Path;
    use std::process::{Child, Command, Stdio};

    use super::super::open_authority;
    use super::*;

    /// A process with a socket, by the inode of that.
    struct Process(Child, u32);

    impl Process {
        /// Something that does nothing, under the name of a program.
        fn of(program: &Path, variable: Option<(&str, &str)>) -> Self {
            let socket = TcpListener::bind("127.0.0.1:0").unwrap();
            let mut command = Command::new(program);
            command.arg("60").env_remove(BESIDES).env_remove(JAVA);
            command.current_dir(program.parent().unwrap());
            command.envs(variable);
            let child = command.stdin(Stdio::from(OwnedFd::from(socket)));
            let child = child.spawn().unwrap();
            let pid = child.id() as i32;
            // `spawn` returns a moment before the program has its environment;
            // who greets has it for long.
            let is_there =
                || fs::read(format!("/proc/{pid}/environ")).is_ok_and(|it| !it.is_empty());
            while !is_there() {
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
            let inode = proc::sockets(pid).next().unwrap();
            Process(child, inode)
        }
    }

    impl Drop for Process {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    #[test]
    fn a_process_is_told_if_its_variable_leads_to_our_certificate() {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path();
        let (_, files) = open_authority(at).unwrap();
        let clients = Clients::new(&files);
        for name in ["node", "java"] {
            // By another process: a program that is open for writing, be it in
            // a child of another test that is about to start, cannot be run.
            let copied = Command::new("cp")
                .arg("/bin/sleep")
                .arg(at.join(name))
                .status();
            assert!(copied.unwrap().success());
        }
        fs::write(at.join("other.pem"), "-----BEGIN CERTIFICATE-----").unwrap();
        let store = at.canonicalize().unwrap().join("ca/trusted.jks");
        let store = format!("-Xmx1g -Djavax.net.ssl.trustStore={}", store.display());
        let cases = [
            ("node", None, false),
            ("node", Some((BESIDES, "other.pem")), false),
            ("node", Some((BESIDES, "nowhere.pem")), false),
            ("node", Some((BESIDES, "ca/ca.pem")), true),
            ("java", Some((JAVA, "-Xmx1g")), false),
            ("java", Some((JAVA, store.as_str())), true),
        ];
        for (program, variable, is_told) in cases {
            let process = Process::of(&at.join(program), variable);
            // For a moment it may be open in a child of another test as well,
            // one that does not run its own program yet.
            let look = |_| {
                let found = clients.of_socket(process.1, &Hello::default());
                found.or_else(|| {
                    std::thread::sleep(std::time::Duration::from_millis(10));
                    None
                })
            };
            let found = (0..500).find_map(look).unwrap();
            assert_eq!(found.is_told, is_told, "{program} {variable:?}");
        }
        assert_eq!(clients.of_socket(0, &Hello::default()), None);
    }

    fn hello(protocols: &[&str], takes_tickets: bool) -> Hello {
        Hello {
            protocols: protocols.iter().map(|it| (*it).to_owned()).collect(),
            takes_tickets,
            ..Hello::default()
        }
    }

    #[test]
    fn a_runtime_is_known_by_its_program_and_a_library_by_its_greeting() {
        let http1 = || hello(&["http/1.1"], true);
        let cases = [
            ("node", http1(), Some("NODE_EXTRA_CA_CERTS")),
            ("node", hello(&["h2"], true), Some("NODE_EXTRA_CA_CERTS")),
            ("java", http1(), Some("JAVA_TOOL_OPTIONS")),
            (
                "curl",
                hello(&["h2", "http/1.1"], false),
                Some("CURL_CA_BUNDLE"),
            ),
            ("python3.11", http1(), Some("SSL_CERT_FILE")),
            (
                "python3",
                hello(&["http/1.1", "h2"], true),
                Some("SSL_CERT_FILE"),
            ),
            (
                "python",
                hello(&["http/1.1"], false),
                Some("REQUESTS_CA_BUNDLE"),
            ),
            (
                "pypy3.10",
                hello(&["h2"], true),
                Some("GRPC_DEFAULT_SSL_ROOTS_FILE_PATH"),
            ),
            ("shop", http1(), None),
            ("nodemon", http1(), None),
        ];
        for (program, hello, expected) in cases {
            let found = Runtime::of(program, &hello).map(|it| it.variables[0]);
            assert_eq!(found, expected, "{program} {hello:?}");
        }
    }
}
