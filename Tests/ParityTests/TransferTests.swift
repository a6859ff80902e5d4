import MartletOTLP
import Testing

/// Phases and connections of real transfers, as reported by libcurl.
struct TransferTests {
    @Test(arguments: [("tls", "1.1"), ("http2", "2")], ParityRun.Mode.withAgent)
    func newConnectionHasAllPhasesAndAReusedOneHasNoConnectionPhases(
        over server: (role: String, version: String), mode: ParityRun.Mode
    ) async throws {
        let spans = try await ParityRun.of(mode).spans(of: "connection kept alive over \(server.role)")
        try #require(spans.count == 2)
        #expect(spans.map { Set($0.phases.keys) } == [Self.all, Self.all.subtracting(Self.connecting)])
        #expect(Self.connecting.allSatisfy { spans[0].phases[$0] ?? 0 > 0 })
        for span in spans {
            #expect(span.phases.values.reduce(0, +) <= span.endTimeUnixNano - span.startTimeUnixNano)
            #expect(span.attribute("network.protocol.version")?.stringValue == server.version)
        }
        #expect(spans.map { $0.attribute("martlet.connection.reused")?.boolValue } == [nil, true])
    }

    @Test(arguments: ParityRun.Mode.withAgent)
    func connectionWithoutTLSHasNoTLSPhase(mode: ParityRun.Mode) async throws {
        let span = try #require(try await ParityRun.of(mode).spans(of: "connection kept alive").first)
        #expect(Set(span.phases.keys) == Self.all.subtracting(["tls"]))
    }

    /// The server sleeps before its part of a handshake, before the head of its answer and before the second half.
    @Test(arguments: ["tls", "http2"], ParityRun.Mode.withAgent)
    func timeOfASlowAnswerOverTLSIsInTheRightPhases(over role: String, mode: ParityRun.Mode) async throws {
        let span = try #require(try await ParityRun.of(mode).spans(of: "slow POST over \(role)").first)
        let milliseconds = span.phases.mapValues { Double($0) / 1e6 }
        if role == "tls" { #expect(milliseconds["tls"] ?? 0 >= 20) }
        #expect(milliseconds["first_byte"] ?? 0 >= 60)
        #expect((milliseconds["first_byte"] ?? 0) + (milliseconds["transfer"] ?? 0) >= 100)
    }

    @Test(
        arguments: [
            ("GET over tls", nil), ("redirect over tls", 1), ("redirect over http2", 1), ("redirect 302 of POST", 1),
            ("redirect without end, completion handler", 20),
        ] as [(String, Int64?)], ParityRun.Mode.withAgent)
    func redirectsAreCounted(in cell: (name: String, resends: Int64?), mode: ParityRun.Mode) async throws {
        let spans = try await ParityRun.of(mode).spans(of: cell.name)
        #expect(spans.map { $0.attribute("http.request.resend_count")?.intValue } == [cell.resends])
    }

    private static let connecting: Set = ["dns", "connect", "tls"]
    private static let all = connecting.union(["queue", "first_byte", "transfer"])
}

extension OTLPSpan {
    /// The phases of the request, in nanoseconds.
    fileprivate var phases: [String: UInt64] {
        let prefix = "martlet.phase."
        let phases = attributes.filter { $0.key.hasPrefix(prefix) }
        return phases.reduce(into: [:]) {
            $0[String($1.key.dropFirst(prefix.count))] = UInt64(($1.value.doubleValue * 1e9).rounded())
        }
    }
}
