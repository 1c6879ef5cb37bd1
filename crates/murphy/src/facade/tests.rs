//! What makes no sense is refused before anything is started.

use super::*;

async fn refused(campaign: Campaign) -> String {
    campaign.run().await.unwrap_err().to_string()
}

fn fit() -> Campaign {
    let campaign = Campaign::new("checkout").service("cart", "127.0.0.1:1");
    campaign.scenario(|_| async {})
}

#[tokio::test]
async fn what_makes_no_sense_is_refused_with_the_way_out() {
    let no_test = Campaign::new("checkout").service("cart", "127.0.0.1:1");
    let no_services = Campaign::new("checkout").scenario(|_| async {});
    let cases = [
        (no_test, "has no test: give it one with `scenario`"),
        (no_services, "name them with `service` or `managed`"),
        (fit().service("cart", "x"), "two services called `cart`"),
        (fit().jobs(0), "`jobs` is 0"),
        (fit().modes("503,resett"), "did you mean `reset`?"),
        (fit().only("** >"), "cannot read this"),
        (fit().oracle("no-case", "warn"), "did you mean `no-cause`?"),
        (fit().carriers("b4"), "no carrier is called `b4`"),
        (
            fit().reset(Step::request("crat", "POST", "/reset")),
            "a step asks the service `crat`",
        ),
        (
            fit().strategy(Strategy::Lineage).reduce(Reduction::Retry),
            "knows no reduction but `Reduction::Modes`",
        ),
        (
            fit().strategy(Strategy::Random).reduce(Reduction::Modes),
            "there is nothing to `reduce`",
        ),
    ];
    for (campaign, says) in cases {
        let text = refused(campaign).await;
        assert!(text.contains(says), "{says}: {text}");
    }
}

#[tokio::test]
async fn what_cannot_be_replayed_is_said_with_the_way_out() {
    let here = tempfile::tempdir().unwrap();
    let file = here.path().join("not-ours.json");
    std::fs::write(&file, "{}").unwrap();
    let cases = [
        (fit(), "M-12", "there is no file `M-12`"),
        (
            fit().store(here.path()),
            "M-12",
            "no finding `M-12` to replay",
        ),
        (fit(), file.to_str().unwrap(), "missing field"),
    ];
    for (campaign, what, says) in cases {
        let text = campaign.replay(what).await.unwrap_err().to_string();
        assert!(text.contains(says), "{says}: {text}");
    }
}

#[test]
fn a_test_says_what_it_is_not_content_with() {
    assert_eq!(().into_test_result(), Ok(()));
    assert_eq!(Ok::<(), String>(()).into_test_result(), Ok(()));
    assert_eq!(
        Err("no".to_owned()).into_test_result(),
        Err("no".to_owned())
    );
}
