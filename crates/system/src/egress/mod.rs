//! What leaves the system: calls that go out by name, through our forward
//! proxy, and TLS that ends with us.
//!
//! Owns what processes are told so that they come to us and trust us: where the
//! proxy is, and a file of certificates that holds ours besides those that they
//! trust already. Nothing is told to the machine: what is set here is set for
//! processes that Murphy starts, and ends with them.

mod authority;
mod bundle;
mod clients;
mod trust_store;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use murphy_campaign::SetupError;

pub use self::authority::{AuthorityFiles, open_authority, rotate_authority};
use self::bundle::Bundles;
pub(super) use self::clients::Clients;

/// Variables that name a file of all certificates to trust. Without them their
/// readers trust what the machine trusts, or a list of their own.
const ALL: [&str; 6] = [
    "SSL_CERT_FILE",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "AWS_CA_BUNDLE",
    "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH",
    "DENO_CERT",
];

/// The variable that names certificates to trust besides.
const BESIDES: &str = "NODE_EXTRA_CA_CERTS";

/// What a JVM reads.
const JAVA: &str = "JAVA_TOOL_OPTIONS";

/// Who is called directly, whatever the proxy: what is on this machine has
/// proxies of its own in front of it.
const HERE: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

/// A file that holds what this machine trusts, and our authority.
pub fn trusted_with(files: &AuthorityFiles) -> Result<PathBuf, SetupError> {
    let named = std::env::var("SSL_CERT_FILE").ok();
    let written = Bundles::new(files).with_all_of(named.as_deref());
    written.map_err(|error| {
        SetupError::new(format!(
            "the certificates to trust cannot be written: {error}"
        ))
    })
}

/// How a process reaches what is outside.
#[derive(Clone)]
pub(super) struct Egress {
    bundles: Arc<Bundles>,
    /// The forward proxy for it, if there is one.
    proxy: Option<SocketAddr>,
}

impl Egress {
    /// For processes that call doors of ours.
    pub(super) fn new(files: &AuthorityFiles) -> Self {
        Egress {
            bundles: Arc::new(Bundles::new(files)),
            proxy: None,
        }
    }

    /// The same for one that has a forward proxy.
    pub(super) fn through(&self, proxy: SocketAddr) -> Self {
        Egress {
            bundles: self.bundles.clone(),
            proxy: Some(proxy),
        }
    }

    /// Adds what a process with this environment must be told.
    pub(super) fn tell(
        &self,
        environment: &mut BTreeMap<String, String>,
    ) -> Result<(), SetupError> {
        let told = self.variables(|name| match environment.get(name) {
            Some(value) => Some(value.clone()),
            None => std::env::var(name).ok(),
        });
        environment.extend(told.map_err(|error| {
            SetupError::new(format!(
                "the certificates to trust cannot be written: {error}"
            ))
        })?);
        Ok(())
    }

    /// The variables; `now` is what a process would see otherwise.
    fn variables(
        &self,
        now: impl Fn(&str) -> Option<String>,
    ) -> std::io::Result<BTreeMap<String, String>> {
        let now = |name: &str| now(name).filter(|value| !value.is_empty());
        let mut told = BTreeMap::new();
        for name in ALL {
            // `requests` goes by curl's variable, too.
            let file = now(name).or_else(|| match name {
                "REQUESTS_CA_BUNDLE" => now("CURL_CA_BUNDLE"),
                _ => None,
            });
            let bundle = self.bundles.with_all_of(file.as_deref())?;
            told.insert(name.to_owned(), bundle.display().to_string());
        }
        let besides = self.bundles.with(now(BESIDES).as_deref())?;
        told.insert(BESIDES.to_owned(), besides.display().to_string());
        let store = self.bundles.trust_store(now("SSL_CERT_FILE").as_deref())?;
        let mut java = format!(
            "-Djavax.net.ssl.trustStore={} -Djavax.net.ssl.trustStoreType=JKS",
            store.display()
        );
        if let Some(proxy) = self.proxy {
            self.tell_proxy(proxy, &now, &mut told);
            let (host, port) = (proxy.ip(), proxy.port());
            java += &format!(
                " -Dhttp.proxyHost={host} -Dhttp.proxyPort={port} -Dhttps.proxyHost={host} -Dhttps.proxyPort={port} -Dhttp.nonProxyHosts=localhost|127.*|[::1]"
            );
        }
        let java = match now(JAVA) {
            Some(before) => format!("{before} {java}"),
            None => java,
        };
        told.insert(JAVA.to_owned(), java);
        Ok(told)
    }

    fn tell_proxy(
        &self,
        proxy: SocketAddr,
        now: &impl Fn(&str) -> Option<String>,
        told: &mut BTreeMap<String, String>,
    ) {
        let url = format!("http://{proxy}");
        // Some read the one, some the other.
        for name in ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy"] {
            told.insert(name.to_owned(), url.clone());
        }
        // Or Node 24 reads none of them.
        told.insert("NODE_USE_ENV_PROXY".to_owned(), "1".to_owned());
        let before = now("NO_PROXY")
            .or_else(|| now("no_proxy"))
            .unwrap_or_default();
        let mut direct: Vec<&str> = before.split(',').map(str::trim).collect();
        direct.retain(|host| !host.is_empty());
        for host in HERE {
            if !direct.contains(&host) {
                direct.push(host);
            }
        }
        let direct = direct.join(",");
        for name in ["NO_PROXY", "no_proxy"] {
            told.insert(name.to_owned(), direct.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(
        before: &[(&str, &str)],
        proxied: bool,
    ) -> (BTreeMap<String, String>, tempfile::TempDir) {
        let folder = tempfile::tempdir().unwrap();
        let (_, files) = open_authority(folder.path()).unwrap();
        let mut egress = Egress::new(&files);
        if proxied {
            egress = egress.through("127.0.0.1:8888".parse().unwrap());
        }
        let before: BTreeMap<_, _> = before.iter().copied().collect();
        let now = |name: &str| before.get(name).map(|value| (*value).to_owned());
        (egress.variables(now).unwrap(), folder)
    }

    #[test]
    fn what_was_trusted_before_still_is() {
        let own = tempfile::NamedTempFile::new().unwrap();
        let mine = "-----BEGIN CERTIFICATE-----\nbWluZQ==\n-----END CERTIFICATE-----\n";
        std::fs::write(own.path(), mine).unwrap();
        let path = own.path().to_str().unwrap();
        let (told, folder) = told(
            &[
                ("CURL_CA_BUNDLE", path),
                ("NODE_EXTRA_CA_CERTS", path),
                (JAVA, "-Xmx1g"),
            ],
            false,
        );
        let ours = std::fs::read_to_string(folder.path().join("ca/ca.pem")).unwrap();
        for name in ["CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", BESIDES] {
            let bundle = std::fs::read_to_string(&told[name]).unwrap();
            assert!(bundle.contains(mine) && bundle.contains(&ours), "{name}");
        }
        let other = std::fs::read_to_string(&told["SSL_CERT_FILE"]).unwrap();
        assert!(!other.contains(mine) && other.contains(&ours));
        assert!(told[JAVA].starts_with("-Xmx1g -Djavax.net.ssl.trustStore="));
        assert!(!told.contains_key("HTTPS_PROXY"));
        assert!(!told.contains_key("SSL_CERT_DIR"));
    }

    #[test]
    fn the_proxy_is_told_in_every_spelling_and_not_for_this_machine() {
        let (told, _folder) = told(&[("no_proxy", "intern.example, 127.0.0.1")], true);
        for name in ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy"] {
            assert_eq!(told[name], "http://127.0.0.1:8888");
        }
        assert_eq!(told["NO_PROXY"], "intern.example,127.0.0.1,localhost,::1");
        assert_eq!(told["no_proxy"], told["NO_PROXY"]);
        assert!(told[JAVA].contains("-Dhttps.proxyPort=8888"));
    }
}
