//! Files that cannot be used, each with what to do about it.

use std::path::PathBuf;

use murphy_proxy::{TlsFiles, TlsUpstream};

use crate::authority::Authority;

fn refusal(files: &TlsFiles) -> (String, String) {
    let error = TlsUpstream::new("a.example", files).unwrap_err();
    (error.to_string(), error.hint())
}

fn with_client(authority: &Authority, certificate: PathBuf, key: PathBuf) -> TlsFiles {
    TlsFiles {
        ca: Some(authority.file()),
        client: Some((certificate, key)),
        ..TlsFiles::default()
    }
}

#[test]
fn what_cannot_be_used_is_refused_with_the_file_and_a_way_out() {
    let authority = Authority::new();
    let (one, other) = (authority.sign_client(), authority.sign_client());
    let certificate = authority.write("one.pem", &one.certificate_pem);
    let key = authority.write("one.key", &one.key_pem);
    let other_key = authority.write("other.key", &other.key_pem);
    let nothing = authority.write("nothing.pem", "nothing\n");
    let garbage = authority.write(
        "garbage.pem",
        "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
    );
    let encrypted = authority.write(
        "encrypted.key",
        "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n",
    );
    let ca = |file: PathBuf| TlsFiles {
        ca: Some(file),
        ..TlsFiles::default()
    };
    let with = |certificate: &PathBuf, key: &PathBuf| {
        with_client(&authority, certificate.clone(), key.clone())
    };
    let cases = [
        (
            ca("/no/such/file".into()),
            "`/no/such/file` cannot be read",
            "check the path",
        ),
        (
            ca(nothing.clone()),
            "holds no certificate",
            "BEGIN CERTIFICATE",
        ),
        (ca(garbage), "cannot be read", "BEGIN CERTIFICATE"),
        (
            with(&certificate, &nothing),
            "holds no private key",
            "BEGIN PRIVATE KEY",
        ),
        (
            with(&certificate, &encrypted),
            "encrypted",
            "openssl pkey -in",
        ),
        (
            with(&certificate, &other_key),
            "it is another certificate's",
            "name the key",
        ),
    ];
    for (files, message, hint) in cases {
        let (said, way_out) = refusal(&files);
        assert!(said.contains(message), "{said}");
        assert!(way_out.contains(hint), "{way_out}");
    }
    TlsUpstream::new("a.example", &with(&certificate, &key)).unwrap();
    let wrong_name = TlsFiles {
        server_name: Some("not a name".to_owned()),
        ..ca(authority.file())
    };
    assert!(refusal(&wrong_name).0.contains("`not a name` is no name"));
}

#[test]
fn keys_are_not_shown() {
    let authority = Authority::new();
    let one = authority.sign_client();
    let files = with_client(
        &authority,
        authority.write("one.pem", &one.certificate_pem),
        authority.write("one.key", &one.key_pem),
    );
    let tls = TlsUpstream::new("a.example:443", &files).unwrap();
    assert_eq!(format!("{tls:?}"), "TlsUpstream(a.example)");
    let broken = authority.write("broken.key", &one.key_pem.replace("KEY", "THING"));
    let files = with_client(
        &authority,
        authority.write("c.pem", &one.certificate_pem),
        broken,
    );
    let (said, hint) = refusal(&files);
    let secret = one.key_pem.lines().nth(1).unwrap();
    assert!(!said.contains(secret) && !hint.contains(secret), "{said}");
}
