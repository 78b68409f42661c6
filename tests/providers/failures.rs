//! Failures: what is tried again, and what people read when it is not.

use super::*;
use futures::FutureExt as _;
use model_server::Reply;

fn overloaded(status: u16) -> Reply {
    let error = json!({"type": "error", "error": {"type": "overloaded_error", "message": "busy"}});
    Reply::status(status, &error)
}

#[tokio::test]
async fn a_server_that_fails_is_asked_again_until_the_tries_are_used_up() {
    for protocol in BOTH {
        for status in [500, 502, 503, 529] {
            let server = ModelServer::start();
            let provider = vendor(&server, protocol);
            let name = provider.name().to_owned();
            let why = format!("{name} failed ({status}): busy");

            server
                .reply(overloaded(status))
                .reply(overloaded(status))
                .reply(Reply::text("ok"));
            let answer = ask(&*provider, hello()).await;
            assert_eq!(
                answer.news,
                [format!("try 2: {why}"), format!("try 3: {why}")]
            );
            assert_eq!(answer.text, "ok");

            for _ in 0..3 {
                server.reply(overloaded(status));
            }
            let answer = ask(&*provider, hello()).await;
            assert_eq!(answer.news.len(), 2);
            assert_eq!(answer.error().to_string(), why);
            assert_eq!(server.requests().len(), 6);
        }
    }
}

#[tokio::test]
async fn what_the_vendor_rejects_is_not_sent_again() {
    for protocol in BOTH {
        for (status, line) in [
            (400, "rejected the request (400): no"),
            (404, "rejected the request (404): no"),
            (408, "rejected the request (408): no"),
            (413, "rejected the request (413): no"),
            (401, "refused the key (401): no; set "),
            (403, "refused the key (403): no; set "),
        ] {
            let server = ModelServer::start();
            let provider = vendor(&server, protocol);
            server.reply(Reply::status(status, &json!({"error": {"message": "no"}})));
            let answer = ask(&*provider, hello()).await;
            assert_eq!(answer.news, Vec::<String>::new());
            let error = answer.error().to_string();
            assert!(error.contains(line), "{error}");
            assert_eq!(server.requests().len(), 1);
        }
    }
}

#[tokio::test]
async fn a_rate_limit_is_waited_for_or_told() {
    let limited = || Reply::status(429, &json!({"error": {"message": "slow down"}}));
    let dates = |reply: Reply, then: &str| {
        reply
            .header("date", "Sun, 06 Nov 1994 08:49:37 GMT")
            .header("retry-after", then)
    };
    for protocol in BOTH {
        let server = ModelServer::start();
        let provider = vendor(&server, protocol);
        let name = provider.name().to_owned();
        // Waits that are over at once: none given (the budget of the test), zero, in the past.
        server
            .reply(limited())
            .reply(limited().header("retry-after", "0"))
            .reply(dates(limited(), "Sun, 06 Nov 1994 08:49:37 GMT"))
            .reply(Reply::text("ok"));
        let answer = ask(&*provider, hello()).await;
        assert_eq!(answer.news.len(), 3, "{:?}", answer.news);
        assert_eq!(answer.text, "ok");

        for (reply, advice) in [
            (limited().header("retry-after", "3600"), "1 h"),
            (
                dates(limited(), "Sun, 06 Nov 1994 08:59:57 GMT"),
                "10 min 20 s",
            ),
        ] {
            server.reply(reply);
            let answer = ask(&*provider, hello()).await;
            assert_eq!(answer.news, Vec::<String>::new());
            assert_eq!(
                answer.error().to_string(),
                format!("{name} is rate limited, try again in {advice}: slow down")
            );
        }
    }
}

#[tokio::test]
async fn the_wait_that_a_server_asks_for_is_announced() {
    let server = ModelServer::start();
    let provider = vendor(&server, Protocol::OpenAi);
    server.reply(Reply::status(429, &json!({})).header("retry-after", "120"));
    let mut stream = provider.send(hello());
    let chunk = stream.next().await;
    let Some(Ok(Chunk::Retrying {
        attempt: 2, wait, ..
    })) = chunk
    else {
        panic!("{chunk:?}");
    };
    assert_eq!(wait, Duration::from_secs(120));
    assert_eq!(stream.next().now_or_never(), None, "it waits");
}

#[tokio::test]
async fn a_server_that_is_away_is_tried_six_times() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("a bound socket");
    drop(listener);
    for protocol in BOTH {
        let config = config(protocol, Some(format!("http://{address}")));
        let provider = provider::connect_with(&config, impatient()).expect("a provider");
        let answer = ask(&*provider, hello()).await;
        assert_eq!(answer.news.len(), 5, "{:?}", answer.news);
        let error = answer.error().to_string();
        let start = format!("cannot reach {} at http://{address}: ", provider.name());
        assert!(error.starts_with(&start), "{error}");
        assert!(error.contains("onnection refused"), "{error}");
    }
}

#[tokio::test]
async fn a_broken_answer_is_asked_for_again_only_while_nothing_was_shown() {
    for protocol in BOTH {
        let server = ModelServer::start();
        let provider = vendor(&server, protocol);
        // A call that is cut short was not shown, and never runs.
        let call = Reply::call("a", "grep", &json!({"path": "x".repeat(500)}));
        server.reply(call.cut_after(700)).reply(Reply::text("ok"));
        let answer = ask(&*provider, hello()).await;
        assert_eq!(answer.news.len(), 1, "{:?}", answer.news);
        assert!(answer.news[0].contains("broke off"), "{:?}", answer.news);
        assert_eq!(answer.text, "ok");

        let text = "x".repeat(4_000);
        server.reply(Reply::text(&text).cut_after(3_000));
        let answer = ask(&*provider, hello()).await;
        assert_eq!(answer.text, text[..2_000]);
        assert_eq!(answer.news, Vec::<String>::new());
        assert!(matches!(answer.error(), ProviderError::Broken { .. }));
    }
}

#[tokio::test]
async fn a_stream_that_just_ends_is_broken_too() {
    for (protocol, event) in [
        (
            Protocol::OpenAi,
            r#"{"choices":[{"delta":{"content":"so"}}]}"#,
        ),
        (
            Protocol::Anthropic,
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"so"}}"#,
        ),
    ] {
        for tail in ["\n\n", "\n\ndata: {\"choi", "\n\ndata: [DONE"] {
            let server = ModelServer::start();
            let provider = vendor(&server, protocol);
            server.reply(Reply::raw(
                200,
                "text/event-stream",
                format!("data: {event}{tail}"),
            ));
            let answer = ask(&*provider, hello()).await;
            assert_eq!(answer.text, "so");
            let error = answer.error();
            assert!(matches!(error, ProviderError::Broken { .. }), "{error}");
        }
    }
}

#[tokio::test]
async fn a_failure_inside_a_stream_is_one_of_its_kind() {
    for (protocol, event, retried, line) in [
        (
            Protocol::Anthropic,
            r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
            true,
            "anthropic failed (529): Overloaded",
        ),
        (
            Protocol::Anthropic,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"no"}}"#,
            false,
            "anthropic rejected the request (400): no",
        ),
        (
            Protocol::OpenAi,
            r#"{"error":{"message":"upstream","code":502},"choices":[]}"#,
            true,
            "openai failed (502): upstream",
        ),
        (
            Protocol::OpenAi,
            r#"{"error":{"message":"broke","type":"server_error","code":null}}"#,
            true,
            "openai failed (500): broke",
        ),
        (
            Protocol::OpenAi,
            r#"{"error":{"message":"pay","type":"insufficient_quota"}}"#,
            false,
            "openai rejected the request (429): pay",
        ),
    ] {
        let server = ModelServer::start();
        let provider = vendor(&server, protocol);
        let failing = || Reply::raw(200, "text/event-stream", format!("data: {event}\n\n"));
        server.reply(failing());
        if retried {
            server.reply(failing()).reply(failing());
        }
        let answer = ask(&*provider, hello()).await;
        assert_eq!(answer.news.is_empty(), !retried, "{event}");
        assert_eq!(answer.error().to_string(), line);
    }
}

#[tokio::test]
async fn nonsense_is_told_and_not_asked_for_again() {
    let huge = format!("data: {}", "x".repeat(17 << 20));
    for protocol in BOTH {
        for (kind, body, words) in [
            ("text/event-stream", "data: {oops\n\n", "does not allow"),
            ("application/json", "[]", "does not allow"),
            (
                "text/html; charset=utf-8",
                "<html>",
                "a web page instead of an answer; check the base url",
            ),
            (
                "text/event-stream",
                huge.as_str(),
                "16777216 bytes allowed for one event",
            ),
        ] {
            let server = ModelServer::start();
            let provider = vendor(&server, protocol);
            server.reply(Reply::raw(200, kind, body));
            let answer = ask(&*provider, hello()).await;
            assert_eq!(answer.news, Vec::<String>::new());
            let error = answer.error().to_string();
            assert!(error.contains(words), "{error}");
            assert!(error.len() < 600, "{error}");
        }
    }
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    for protocol in BOTH {
        let server = ModelServer::start();
        let elsewhere = ModelServer::start();
        let provider = vendor(&server, protocol);
        let moved = Reply::raw(307, "text/plain", "").header("location", &elsewhere.url(protocol));
        server.reply(moved);
        let error = ask(&*provider, hello()).await.error().to_string();
        assert!(
            error.contains("it redirects, which is not followed"),
            "{error}"
        );
        assert_eq!(elsewhere.requests().len(), 0);
    }
}

#[tokio::test]
async fn the_key_is_in_no_error_and_in_no_debug_text() {
    let cut = &KEY[..KEY.len() - 4];
    let echoes = [
        Reply::status(
            401,
            &json!({"error": {"message": format!("bad key: {KEY}.")}}),
        ),
        Reply::status(
            400,
            &json!({"error": {"message": format!("headers: Bearer {KEY}")}}),
        ),
        Reply::status(
            400,
            &json!({"error": {"message": format!("key {cut}… is wrong")}}),
        ),
        Reply::raw(400, "text/plain", format!("x-api-key: {KEY}")),
        Reply::raw(200, "text/event-stream", format!("data: {{{KEY}\n\n")),
    ];
    for protocol in BOTH {
        let server = ModelServer::start();
        let provider = vendor(&server, protocol);
        for reply in &echoes {
            server.reply(reply.clone());
            let error = ask(&*provider, hello()).await.error();
            for text in [error.to_string(), format!("{error:?}")] {
                assert!(!text.contains(cut), "{text}");
                assert!(text.contains("[key]"), "{text}");
            }
        }
        let shown = format!("{:?}", config(protocol, None));
        assert!(!shown.contains(KEY), "{shown}");
    }
}

#[tokio::test]
async fn dropping_the_stream_ends_the_request() {
    for protocol in BOTH {
        let server = ModelServer::start();
        let provider = vendor(&server, protocol);
        server.reply(Reply::text("so").hanging());
        let mut stream = provider.send(hello());
        assert_eq!(stream.next().await, Some(Ok(Chunk::Text("s".to_owned()))));
        drop(stream);
        // The connection task runs on this runtime, so the wait may not block it.
        let server = tokio::task::spawn_blocking(move || {
            server.wait_hung_up();
            server
        });
        drop(server.await);
    }
}

#[tokio::test]
async fn nothing_is_sent_before_the_stream_is_polled() {
    let server = ModelServer::start();
    let provider = vendor(&server, Protocol::OpenAi);
    drop(provider.send(hello()));
    assert_eq!(server.requests().len(), 0);
}
