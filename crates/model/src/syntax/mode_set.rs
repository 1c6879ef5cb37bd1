//! Words that stand for several modes in a list.
//!
//! Owns their names and what they stand for: the modes of published
//! experiments, of gRPC and of TLS, which are wanted together. Which modes are used
//! where nothing is said is decided in `search`.

/// A word that stands for several modes in a list such as `http,reset`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModeSet {
    /// The word.
    pub name: &'static str,
    /// The modes, as a list.
    pub modes: &'static str,
}

impl ModeSet {
    /// The four errors of the published experiments.
    pub const HTTP: ModeSet = ModeSet {
        name: "http",
        modes: "500,502,503,504",
    };

    /// What a gRPC callee answers with when it is down, broken, late or
    /// overloaded.
    pub const GRPC: ModeSet = ModeSet {
        name: "grpc",
        modes: "grpc:UNAVAILABLE,grpc:INTERNAL,grpc:DEADLINE_EXCEEDED,grpc:RESOURCE_EXHAUSTED",
    };

    /// What goes wrong with certificates, for callers that speak TLS with us.
    pub const TLS: ModeSet = ModeSet {
        name: "tls",
        modes: "tls:handshake,tls:expired,tls:untrusted,tls:name",
    };

    /// All of them.
    pub const ALL: [ModeSet; 3] = [ModeSet::HTTP, ModeSet::GRPC, ModeSet::TLS];

    /// The set with this name.
    pub fn named(name: &str) -> Option<ModeSet> {
        ModeSet::ALL.into_iter().find(|set| set.name == name)
    }
}
