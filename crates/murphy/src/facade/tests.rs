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
    ];
    for (campaign, says) in cases {
        let text = refused(campaign).await;
        assert!(text.contains(says), "{says}: {text}");
    }
}

#[test]
fn a_test_says_what_it_is_not_content_with() {
    assert_eq!(().said(), Ok(()));
    assert_eq!(Ok::<(), String>(()).said(), Ok(()));
    assert_eq!(Err("no".to_owned()).said(), Err("no".to_owned()));
}

#[test]
fn modes_are_for_what_can_carry_them() {
    let rules = modes::mode_rules(Some(Mode::parse_list("503,grpc:UNAVAILABLE").unwrap()));
    assert_eq!(modes::mode_names(&rules), ["503"]);
    assert_eq!(rules.grpc.len(), 2);
    assert_eq!(
        modes::mode_names(&modes::mode_rules(None)).join(","),
        HTTP_MODES
    );
}
