import Fixtures
import HummingbirdTesting
import Testing

/// The OTLP specification's section "OTLP/HTTP Connection", and clients that ask before they send (RFC 9110, section 10.1.1).
@Suite struct OTLPConnectionTests {
    @Test func connectionStaysOpenBetweenRequestsAndAfterFailures() async throws {
        try await withServer { client in
            try await RawConnection.open(port: client.port) { connection in
                for body in [try Samples.body(), [0xff], try Samples.body()] {
                    try await connection.post(body)
                    let answer = try #require(try await connection.answer())
                    #expect(answer.status == (body == [0xff] ? 400 : 200))
                    #expect(answer.headers["connection"] != "close")
                }
            }
            #expect(try await client.count() == 10)
        }
    }

    @Test func parallelConnectionsAreServed() async throws {
        try await withServer { client in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        try await RawConnection.open(port: client.port) { connection in
                            try await connection.post(try Samples.body())
                            #expect(try await connection.answer()?.status == 200)
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await client.count() == 40)
        }
    }

    @Test func clientThatExpectsContinueGetsIt() async throws {
        try await withServer { client in
            try await RawConnection.open(port: client.port) { connection in
                let body = try Samples.body()
                try await connection.send(
                    """
                    POST /v1/metrics HTTP/1.1\r\nHost: test\r\nContent-Type: application/x-protobuf\r
                    Content-Length: \(body.count)\r\nExpect: 100-continue\r\n\r\n
                    """)
                #expect(try await connection.answer()?.status == 100)
                try await connection.send(body)
                #expect(try await connection.answer()?.status == 200)
            }
        }
    }

    @Test func continueComesAfterTheEarlierAnswer() async throws {
        try await withServer { client in
            try await RawConnection.open(port: client.port) { connection in
                let body = try Samples.body()
                let head = """
                    POST /v1/metrics HTTP/1.1\r\nHost: test\r\nContent-Type: application/x-protobuf\r
                    Content-Length: \(body.count)\r\n
                    """
                try await connection.send(
                    Array("\(head)\r\n".utf8) + body + Array("\(head)Expect: 100-continue\r\n\r\n".utf8))
                #expect(try await connection.answer()?.status == 200)
                #expect(try await connection.answer()?.status == 100)
                try await connection.send(body)
                #expect(try await connection.answer()?.status == 200)
            }
        }
    }

    @Test func clientThatExpectsContinueNeedNotSendAnOversizedBody() async throws {
        try await withServer { client in
            try await RawConnection.open(port: client.port) { connection in
                try await connection.send(
                    """
                    POST /v1/metrics HTTP/1.1\r\nHost: test\r\nContent-Type: application/x-protobuf\r
                    Content-Length: 99999999999\r\nExpect: 100-continue\r\n\r\n
                    """)
                #expect(try await connection.answer()?.status == 413)
            }
        }
    }
}
