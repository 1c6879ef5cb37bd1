//! Declared gRPC calls against a real server that tells of itself.

mod support;

use std::convert::Infallible;
use std::sync::Arc;
use std::task::{Context, Poll};

use murphy_system::LiveWorld;
use murphy_system::spec::{Expectations, RequestCall, RequestSpec, ScenarioKind, SystemSpec};
use prost::Message;
use prost_reflect::prost_types::{
    DescriptorProto, FieldDescriptorProto, FileDescriptorProto, FileDescriptorSet,
    MethodDescriptorProto, ServiceDescriptorProto,
    field_descriptor_proto::{Label, Type},
};
use serde_json::{Value, json};
use support::*;
use tonic::body::Body;
use tonic::codegen::{BoxFuture, Service};
use tonic::server::{Grpc, NamedService, UnaryService};
use tonic::transport::server::TcpIncoming;
use tonic::{Request, Response, Status};
use tonic_prost::ProstCodec;

#[derive(Clone, PartialEq, Message)]
struct Order {
    #[prost(string, tag = "1")]
    item: String,
    #[prost(int32, tag = "2")]
    amount: i32,
}

#[derive(Clone, PartialEq, Message)]
struct Receipt {
    #[prost(string, tag = "1")]
    text: String,
    #[prost(bool, tag = "2")]
    gift: bool,
}

/// What the server tells of itself: `Order` is in a file of its own, so that
/// a dependency has to be asked for.
fn description() -> Vec<u8> {
    let field = |name: &str, number, kind: Type| FieldDescriptorProto {
        name: Some(name.to_owned()),
        number: Some(number),
        label: Some(Label::Optional.into()),
        r#type: Some(kind.into()),
        ..FieldDescriptorProto::default()
    };
    let message = |name: &str, field| DescriptorProto {
        name: Some(name.to_owned()),
        field,
        ..DescriptorProto::default()
    };
    let file = |name: &str| FileDescriptorProto {
        name: Some(name.to_owned()),
        package: Some("shop.v1".to_owned()),
        syntax: Some("proto3".to_owned()),
        ..FileDescriptorProto::default()
    };
    let method = |name: &str, streaming| MethodDescriptorProto {
        name: Some(name.to_owned()),
        input_type: Some(".shop.v1.Order".to_owned()),
        output_type: Some(".shop.v1.Receipt".to_owned()),
        server_streaming: Some(streaming),
        ..MethodDescriptorProto::default()
    };
    let orders = FileDescriptorProto {
        message_type: vec![message(
            "Order",
            vec![
                field("item", 1, Type::String),
                field("amount", 2, Type::Int32),
            ],
        )],
        ..file("order.proto")
    };
    let shop = FileDescriptorProto {
        dependency: vec!["order.proto".to_owned()],
        message_type: vec![message(
            "Receipt",
            vec![field("text", 1, Type::String), field("gift", 2, Type::Bool)],
        )],
        service: vec![ServiceDescriptorProto {
            name: Some("Shop".to_owned()),
            method: vec![method("Buy", false), method("Watch", true)],
            ..ServiceDescriptorProto::default()
        }],
        ..file("shop.proto")
    };
    let set = FileDescriptorSet {
        file: vec![orders, shop],
    };
    set.encode_to_vec()
}

#[derive(Clone)]
struct Shop;

impl NamedService for Shop {
    const NAME: &'static str = "shop.v1.Shop";
}

struct Buy;

impl UnaryService<Order> for Buy {
    type Response = Receipt;
    type Future = BoxFuture<Response<Receipt>, Status>;

    fn call(&mut self, request: Request<Order>) -> Self::Future {
        let who = request.metadata().get("who").cloned();
        let order = request.into_inner();
        Box::pin(async move {
            let who = who.and_then(|it| it.to_str().ok().map(str::to_owned));
            match order.amount {
                0 => Err(Status::invalid_argument("nothing ordered")),
                amount => Ok(Response::new(Receipt {
                    text: format!("{amount} {} for {}", order.item, who.unwrap_or_default()),
                    gift: false,
                })),
            }
        })
    }
}

impl Service<http::Request<Body>> for Shop {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<Self::Response, Infallible>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        Box::pin(async move {
            let mut grpc = Grpc::new(ProstCodec::<Receipt, Order>::default());
            Ok(grpc.unary(Buy, request).await)
        })
    }
}

/// Which reflection a server serves.
#[derive(Clone, Copy)]
enum Tells {
    V1,
    V1Alpha,
    Nothing,
}

async fn serve(tells: Tells) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let description = description();
    let mut server = tonic::transport::Server::builder();
    let router = server.add_service(Shop);
    let builder = || {
        tonic_reflection::server::Builder::configure()
            .register_encoded_file_descriptor_set(&description)
    };
    let router = match tells {
        Tells::V1 => router.add_service(builder().build_v1().unwrap()),
        Tells::V1Alpha => router.add_service(builder().build_v1alpha().unwrap()),
        Tells::Nothing => router,
    };
    tokio::spawn(router.serve_with_incoming(TcpIncoming::from(listener)));
    address
}

fn call(method: &str, message: Value) -> RequestSpec {
    RequestSpec {
        service: "shop".to_owned(),
        call: RequestCall::Grpc {
            method: method.to_owned(),
            message,
        },
        headers: vec![("who".to_owned(), "ann".to_owned())],
        expect: Expectations::default(),
    }
}

async fn world(tells: Tells, request: RequestSpec, folder: &TempDir) -> Result<LiveWorld, String> {
    let address = serve(tells).await;
    let system = SystemSpec {
        services: vec![running("shop", &address)],
        ..SystemSpec::default()
    };
    let scenario = scenario(ScenarioKind::Requests(vec![request]));
    let started = start(system, scenario, folder).await;
    started.map_err(|error| format!("{} / {}", error.message, error.hint.unwrap_or_default()))
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_are_made_from_json_by_either_reflection() {
    for tells in [Tells::V1, Tells::V1Alpha] {
        let folder = folder();
        let mut buy = call("shop.v1.Shop/Buy", json!({"item": "tea", "amount": 2}));
        buy.expect.json = vec![
            ("text".to_owned(), json!("2 tea for ann")),
            ("gift".to_owned(), json!(false)),
        ];
        let world = world(tells, buy, &folder).await.unwrap();
        for _ in 0..3 {
            let observed = run(&world, "").await;
            assert_eq!(complaint(&observed), "");
            // What the server tells of itself is none of the test's calls.
            let [only] = points(&observed).try_into().unwrap();
            assert!(only.starts_with("shop shop.v1.Shop/Buy"), "{only}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn codes_are_expected_by_name() {
    let folder = folder();
    let buy = call("shop.v1.Shop/Buy", json!({"item": "tea"}));
    let refused = world(Tells::V1, buy.clone(), &folder).await.unwrap();
    let observed = run(&refused, "").await;
    assert_eq!(
        complaint(&observed),
        "shop.v1.Shop/Buy answered INVALID_ARGUMENT, expected OK"
    );
    assert!(observed.output.unwrap().contains("nothing ordered"));
    let mut expected = buy;
    expected.expect.status = vec!["INVALID_ARGUMENT".to_owned()];
    let right = world(Tells::V1, expected, &folder).await.unwrap();
    assert_eq!(complaint(&run(&right, "").await), "");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_called_is_said_before_anything_runs() {
    let folder = folder();
    let cases = [
        (
            Tells::Nothing,
            "shop.v1.Shop/Buy",
            json!({}),
            "serves no reflection",
        ),
        (
            Tells::V1,
            "shop.v1.Shop/Bye",
            json!({}),
            "has no method `Bye`; it has Buy, Watch",
        ),
        (
            Tells::V1,
            "shop.v1.Store/Buy",
            json!({}),
            "knows no service `shop.v1.Store`",
        ),
        (
            Tells::V1,
            "shop.v1.Shop/Watch",
            json!({}),
            "only unary ones",
        ),
        (
            Tells::V1,
            "shop.v1.Shop/Buy",
            json!({"itme": 1}),
            "does not fit `shop.v1.Order`",
        ),
        (
            Tells::V1,
            "Buy",
            json!({}),
            "it is written `package.Service/Method`",
        ),
    ];
    for (tells, method, message, says) in cases {
        let refused = world(tells, call(method, message), &folder).await;
        let said = refused.err().expect("it must not start");
        assert!(said.contains(says), "{said}");
        assert!(said.contains("does it serve gRPC reflection"), "{said}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_entry_call_itself_is_never_failed() {
    let folder = folder();
    let buy = call("shop.v1.Shop/Buy", json!({"item": "tea", "amount": 1}));
    let world = world(Tells::V1, buy, &folder).await.unwrap();
    let identity: Arc<murphy_model::Identity> = Arc::default();
    let fault = "** > shop * #1 = reset".parse().unwrap();
    let observed = murphy_campaign::World::run(&world, 0, &fault, &identity).await;
    assert_eq!(complaint(&observed.unwrap()), "not exercised");
}

/// `Watch` streams, and nobody has written it; it is an endpoint all the same.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_server_offers_is_asked_by_either_reflection() {
    for tells in [Tells::V1, Tells::V1Alpha, Tells::Nothing] {
        let folder = folder();
        let buy = call("shop.v1.Shop/Buy", json!({"item": "tea", "amount": 2}));
        let world = match tells {
            Tells::Nothing => unasked(&folder).await,
            _ => world(tells, buy, &folder).await.unwrap(),
        };
        let all = world.system().described().await;
        let names = all
            .iter()
            .map(|it| format!("{} {}", it.service, it.interface));
        let names: Vec<String> = names.collect();
        match tells {
            Tells::Nothing => assert!(names.is_empty(), "{names:?}"),
            _ => assert_eq!(names, ["shop shop.v1.Shop/Buy", "shop shop.v1.Shop/Watch"]),
        }
        let called = all
            .iter()
            .filter(|it| it.is_called_by(&murphy_model::Interface::grpc("shop.v1.Shop", "Buy")));
        assert_eq!(called.count(), names.len() / 2);
        world.stop().await.unwrap();
    }
}

/// A server that tells nothing, in a system that need not know it.
async fn unasked(folder: &TempDir) -> LiveWorld {
    let address = serve(Tells::Nothing).await;
    let system = SystemSpec {
        services: vec![running("shop", &address)],
        ..SystemSpec::default()
    };
    let scenario = scenario(ScenarioKind::Requests(Vec::new()));
    start(system, scenario, folder).await.unwrap()
}
