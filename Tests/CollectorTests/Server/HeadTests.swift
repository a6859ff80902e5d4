import HummingbirdTesting
import Testing

/// The rules of HTTP/1 about a request's head.
@Suite(.timeLimit(.minutes(1))) struct HeadTests {
    @Test(arguments: [
        ("GET /healthz HTTP/1.1\r\n", 400, "the request has no Host"),
        ("GET /healthz HTTP/1.1\r\nHost: a\r\nHost: b\r\n", 400, "the request has more than one Host"),
        ("GET /healthz HTTP/1.0\r\nHost: a\r\nHost: b\r\n", 400, "the request has more than one Host"),
        (
            "POST /v1/metrics HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n", 501,
            "the only supported transfer coding is chunked"
        ),
        (
            "POST /v1/metrics HTTP/1.0\r\nTransfer-Encoding: chunked\r\n", 400,
            "Transfer-Encoding is not allowed in HTTP/1.0"
        ),
        ("GET /healthz HTTP/1.1\r\nHost: a\r\nno field\r\n", 400, "the request is not valid HTTP/1.1"),
    ])
    func headThatBreaksTheRulesIsRefusedWithASentence(head: String, status: Int, sentence: String) async throws {
        try await withServer { client in
            try await RawConnection.open(port: client.port) { connection in
                try await connection.send(head + "\r\n")
                let answer = try #require(try await connection.answer())
                #expect(answer.status == status)
                #expect(answer.text == sentence + "\n")
                #expect(answer.headers["connection"] == "close")
            }
        }
    }

    @Test func refusalComesAfterTheEarlierAnswers() async throws {
        try await withServer { client in
            try await RawConnection.open(port: client.port) { connection in
                try await connection.send(
                    "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\nGET /healthz HTTP/1.1\r\n\r\nGET /healthz HTTP/1.1\r\nHost: a\r\n\r\n"
                )
                #expect(try await connection.answer()?.status == 200)
                #expect(try await connection.answer()?.status == 400)
                #expect(try await connection.answer() == nil)
            }
        }
    }

    @Test func oldClientGetsNoChunks() async throws {
        try await withServer { client in
            try await RawConnection.open(port: client.port) { connection in
                try await connection.send("GET /metrics HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
                let text = try await connection.rest()
                #expect(text.hasPrefix("HTTP/1.0 200 OK\r\n"))
                #expect(!text.lowercased().contains("transfer-encoding"))
                let body = try #require(text.range(of: "\r\n\r\n")).upperBound
                #expect(text[body...].hasPrefix("# HELP"))
                #expect(text.hasSuffix("\n"))
            }
        }
    }

    @Test func oldClientGetsNoInterimAnswer() async throws {
        try await withServer { client in
            try await RawConnection.open(port: client.port) { connection in
                let body = try Samples.body()
                try await connection.send(
                    """
                    POST /v1/metrics HTTP/1.0\r\nContent-Type: application/x-protobuf\r
                    Content-Length: \(body.count)\r\nExpect: 100-continue\r\n\r\n
                    """)
                try await connection.send(body)
                let text = try await connection.rest()
                #expect(text.hasPrefix("HTTP/1.0 200 OK\r\n"))
            }
        }
    }
}
