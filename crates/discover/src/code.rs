//! Files of a project, searched for variables that hold addresses.
//!
//! Owns which files are looked at, how much of them, and what counts as reading
//! a variable. Bounded in files and bytes: a first look must not take longer
//! than it takes to type the answer. Which service is meant is for `address`.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use ignore::{DirEntry, WalkBuilder};

use crate::address::{is_address, kind};
use crate::dotenv;

/// More files than this are not looked at.
const MOST_FILES: usize = 5_000;

/// Nor more bytes than this altogether, nor larger files than that.
const MOST_BYTES: u64 = 32 * 1024 * 1024;
const LARGEST_FILE: u64 = 256 * 1024;

/// Nor more names in folders than this, whatever they are of.
const MOST_NAMES: usize = 100_000;

/// Longer lines were written by programs.
const LONGEST_LINE: usize = 500;

/// What is written by people and run.
const ENDINGS: [&str; 29] = [
    "py",
    "js",
    "mjs",
    "cjs",
    "jsx",
    "ts",
    "mts",
    "cts",
    "tsx",
    "go",
    "rs",
    "java",
    "kt",
    "kts",
    "scala",
    "groovy",
    "rb",
    "php",
    "cs",
    "fs",
    "ex",
    "exs",
    "clj",
    "swift",
    "dart",
    "sh",
    "pl",
    "lua",
    "properties",
];

/// Folders of other people's code, and of what is built, also where no
/// `.gitignore` says so.
const SKIPPED: [&str; 10] = [
    "node_modules",
    "vendor",
    "target",
    "dist",
    "build",
    "venv",
    "env",
    "site-packages",
    "__pycache__",
    "coverage",
];

/// A place where a variable is read or set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mention {
    /// The variable.
    pub variable: String,
    /// What it is set to, or what is used where it is not set.
    pub value: Option<String>,
    /// The file, relative to the project.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
}

/// A place where an address of this machine is written into code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FixedAddress {
    /// The port.
    pub port: u16,
    /// The file, relative to the project.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
}

/// What was found.
#[derive(Debug, Default)]
pub struct Found {
    /// In the order of files and lines.
    pub mentions: Vec<Mention>,
    /// The first place of each port, in the order of files and lines.
    pub addresses: Vec<FixedAddress>,
    /// How many files were looked at.
    pub files: usize,
    /// Whether there was more than may be looked at.
    pub is_cut: bool,
}

/// Looks at the files of a project.
pub fn search(root: &Path) -> Found {
    let mut found = Found::default();
    let mut bytes = 0;
    let names = Arc::new(AtomicUsize::new(0));
    for entry in walk(root, names.clone()) {
        let path = entry.path();
        let size = entry.metadata().map_or(0, |it| it.len());
        if size > LARGEST_FILE {
            continue;
        }
        if found.files == MOST_FILES || bytes + size > MOST_BYTES {
            found.is_cut = true;
            break;
        }
        let Ok(text) = std::fs::read_to_string(path) else {
            continue;
        };
        found.files += 1;
        bytes += size;
        let file = path.strip_prefix(root).unwrap_or(path);
        let file = file.display().to_string();
        let name = entry.file_name().to_string_lossy();
        if dotenv::is_one(&name) {
            found.mentions.extend(in_dotenv(&file, &text));
            continue;
        }
        found.mentions.extend(in_code(&file, &text));
        for address in fixed_addresses(&file, &text) {
            if !found.addresses.iter().any(|it| it.port == address.port) {
                found.addresses.push(address);
            }
        }
    }
    found.is_cut |= names.load(Ordering::Relaxed) > MOST_NAMES;
    found
}

/// Files of code and package.json files, as far as the bounds go.
pub(crate) fn files(root: &Path) -> impl Iterator<Item = PathBuf> {
    let is_wanted = |name: &str| is_code(name) || name == "package.json";
    let files = visible(root, Arc::default(), is_wanted).take(MOST_FILES);
    let is_small = |it: &DirEntry| it.metadata().is_ok_and(|it| it.len() <= LARGEST_FILE);
    files.filter(is_small).map(DirEntry::into_path)
}

/// The files that may hold something, in the order of their paths; counts the
/// names that it comes by.
fn walk(root: &Path, names: Arc<AtomicUsize>) -> impl Iterator<Item = DirEntry> {
    let is_wanted = |name: &str| dotenv::is_one(name) || is_code(name);
    ignored_dotenv(root).chain(visible(root, names, is_wanted))
}

fn visible(
    root: &Path,
    names: Arc<AtomicUsize>,
    is_file: fn(&str) -> bool,
) -> impl Iterator<Item = DirEntry> {
    let is_wanted = move |entry: &DirEntry| {
        if names.fetch_add(1, Ordering::Relaxed) >= MOST_NAMES {
            return false;
        }
        let name = entry.file_name().to_string_lossy();
        match entry.file_type().is_some_and(|it| it.is_dir()) {
            true => entry.depth() == 0 || !(SKIPPED.contains(&&*name) || name.starts_with('.')),
            false => is_file(&name),
        }
    };
    let mut walk = WalkBuilder::new(root);
    // `.env` files are hidden, and ignored by most projects.
    walk.hidden(false).require_git(false).parents(false);
    walk.filter_entry(is_wanted).sort_by_file_path(Path::cmp);
    let visible = walk.build().flatten();
    visible.filter(|it| it.file_type().is_some_and(|it| it.is_file()))
}

/// The `.env` files of the project's own folder that a `.gitignore` hides.
fn ignored_dotenv(root: &Path) -> impl Iterator<Item = DirEntry> + use<> {
    let plain = |root: &Path| {
        let mut walk = WalkBuilder::new(root);
        walk.standard_filters(false).max_depth(Some(1));
        walk.sort_by_file_path(Path::cmp);
        walk
    };
    let mut respectful = plain(root);
    respectful.git_ignore(true).ignore(true).require_git(false);
    let shown: Vec<_> = respectful
        .build()
        .flatten()
        .map(DirEntry::into_path)
        .collect();
    let all = plain(root).build().flatten();
    all.filter(move |it| {
        let is_one = dotenv::is_one(&it.file_name().to_string_lossy());
        is_one && it.path().is_file() && !shown.iter().any(|path| path == it.path())
    })
}

fn is_code(name: &str) -> bool {
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    ENDINGS.contains(&ending)
}

fn in_dotenv(file: &str, text: &str) -> Vec<Mention> {
    let entries = dotenv::read(text).into_iter();
    let known = entries.filter(|it| kind(&it.name).is_some());
    known
        .map(|it| Mention {
            variable: it.name,
            value: Some(it.value).filter(|it| !it.is_empty()),
            file: file.to_owned(),
            line: it.line,
        })
        .collect()
}

fn in_code(file: &str, text: &str) -> Vec<Mention> {
    let mut mentions: Vec<Mention> = Vec::new();
    let mut before = "";
    for (at, line) in text.lines().enumerate() {
        if line.len() <= LONGEST_LINE && (reads_environment(line) || reads_environment(before)) {
            for (variable, rest) in variables(line) {
                let is_new = !mentions.iter().any(|it| it.variable == variable);
                if is_new {
                    mentions.push(Mention {
                        variable: variable.to_owned(),
                        value: default_behind(rest),
                        file: file.to_owned(),
                        line: at + 1,
                    });
                }
            }
        }
        before = line;
    }
    mentions
}

/// The addresses of this machine in a file: `http://127.0.0.1:7102`.
fn fixed_addresses(file: &str, text: &str) -> Vec<FixedAddress> {
    let mut found = Vec::new();
    let lines = text.lines().enumerate();
    for (at, line) in lines.filter(|(_, line)| line.len() <= LONGEST_LINE) {
        for host in ["127.0.0.1:", "localhost:"] {
            for (start, _) in line.match_indices(host) {
                let behind = &line[start + host.len()..];
                let end = behind.find(|c: char| !c.is_ascii_digit());
                let digits = &behind[..end.unwrap_or(behind.len())];
                found.extend(digits.parse().ok().map(|port| FixedAddress {
                    port,
                    file: file.to_owned(),
                    line: at + 1,
                }));
            }
        }
    }
    found
}

/// Whether a line asks for variables of the environment, rather than naming a
/// constant: `os.environ`, `getenv`, `process.env`, `ENV[…]`, `${…}`, `config(…)`.
fn reads_environment(line: &str) -> bool {
    let line = line.to_ascii_lowercase();
    ["env", "${", "config("].iter().any(|it| line.contains(it))
}

/// The names in a line that hold addresses, each with what follows it.
fn variables(line: &str) -> impl Iterator<Item = (&str, &str)> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut rest = line;
    std::iter::from_fn(move || {
        loop {
            let start = rest.find(is_part)?;
            let word = &rest[start..];
            let end = word.find(|c| !is_part(c)).unwrap_or(word.len());
            let (word, behind) = word.split_at(end);
            rest = behind;
            let is_upper = word.starts_with(|c: char| c.is_ascii_uppercase())
                && !word.contains(|c: char| c.is_ascii_lowercase());
            if is_upper && kind(word).is_some() {
                return Some((word, behind));
            }
        }
    })
}

/// What is used where a variable is not set: the first address in quotes behind
/// its name, or what stands behind it within `${…}`.
fn default_behind(rest: &str) -> Option<String> {
    if let Some(rest) = rest.strip_prefix(':') {
        let value = rest.split('}').next().unwrap_or_default();
        let value = value.trim_start_matches(['-', '=']);
        return is_address(value).then(|| value.to_owned());
    }
    let rest = rest.trim_start_matches(['"', '\'', '`']);
    let mut texts = rest.split(['"', '\'', '`']).skip(1).step_by(2);
    texts.find(|it| is_address(it)).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_line(line: &str) -> Vec<(String, Option<String>)> {
        let found = in_code("a", line).into_iter();
        found.map(|it| (it.variable, it.value)).collect()
    }

    #[test]
    fn variables_are_found_in_any_language_with_what_is_used_otherwise() {
        let cases = [
            (r#"CART = os.environ["CART_URL"]"#, "CART_URL", None),
            (
                r#"os.getenv('CART_URL', 'http://localhost:5001')"#,
                "CART_URL",
                Some("http://localhost:5001"),
            ),
            (
                "const cart = process.env.CART_HOST || 'localhost:5001';",
                "CART_HOST",
                Some("localhost:5001"),
            ),
            (
                r#"os.Getenv("CART_SERVICE_ADDR")"#,
                "CART_SERVICE_ADDR",
                None,
            ),
            (
                "cart.url=${CART_URL:http://cart:80}",
                "CART_URL",
                Some("http://cart:80"),
            ),
            (
                "curl ${CART_URL:-http://localhost:1}",
                "CART_URL",
                Some("http://localhost:1"),
            ),
            (r#"config("CART_URL", default="x")"#, "CART_URL", None),
            (r#"env::var("CART_ADDRESS")?"#, "CART_ADDRESS", None),
        ];
        for (line, variable, value) in cases {
            let expected = vec![(variable.to_owned(), value.map(str::to_owned))];
            assert_eq!(of_line(line), expected, "{line}");
        }
    }

    #[test]
    fn addresses_of_this_machine_are_found_with_their_ports() {
        let text = "CART = \"http://127.0.0.1:7102/x\"\n# localhost\ncall(\"localhost:71030\")\n\
                    f(\"localhost:\" + port, \"10.127.0.0.1:99999\")";
        let found = fixed_addresses("shop.py", text);
        let found: Vec<(u16, usize)> = found.iter().map(|it| (it.port, it.line)).collect();
        assert_eq!(found, [(7102, 1)]);
    }

    #[test]
    fn constants_and_other_names_are_no_variables() {
        for line in [
            r#"CART_URL = "http://localhost:5001""#,
            r#"os.environ["CART_NAME"]"#,
            r#"os.environ["cart_url"]"#,
            r#"os.environ["MURPHY_CART_URL"]"#,
        ] {
            assert_eq!(of_line(line), [], "{line}");
        }
        // Asked for on the line before.
        let text = "os.environ.get(\n    \"CART_URL\",\n)";
        assert_eq!(in_code("a", text)[0].line, 2);
    }

    #[test]
    fn other_peoples_code_is_not_looked_at_and_env_files_always_are() {
        let root = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write(".gitignore", ".env\nmade/\n");
        write(".env", "A_URL=http://a:1\n");
        write("node_modules/x/i.js", "process.env.B_URL");
        write("made/i.js", "process.env.C_URL");
        write(".git/i.js", "process.env.D_URL");
        write("shop/i.js", "process.env.E_URL");
        write("shop/.env.example", "F_URL=\n");
        write("shop/data.bin", "process.env.G_URL");
        write(
            "shop/large.js",
            &("x".repeat(300_000) + "\nprocess.env.H_URL"),
        );
        let found = search(root.path());
        let names: Vec<_> = found.mentions.iter().map(|it| &*it.variable).collect();
        assert_eq!(names, ["A_URL", "F_URL", "E_URL"]);
        assert!(!found.is_cut);
    }
}
