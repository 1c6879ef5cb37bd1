//! Prints what a request costs through Murphy's proxy, next to other proxies,
//! and what traffic leaves behind in memory. Exits with 1 if a bar is missed.

/// As in the binary that people run.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    murphy_bench::proxy::run::run()
}
