import Foundation
import MartletOTLP
import MartletTelemetry
import SwiftProtobuf
import Testing

@testable import Martlet

@Suite struct UploadOutcomeTests {
    @Test(arguments: Signal.allCases)
    func everyStatusHasItsOutcome(signal: Signal) {
        for status in 100..<600 {
            let outcome = UploadOutcome(UploadAnswer(status: status), signal: signal)
            let reason = "status \(status)"
            let expected: UploadOutcome =
                switch status {
                case 200..<300: .delivered()
                case 429: .retry(.backOff, mayHaveArrived: false, reason: reason)
                case 408, 425, 500, 502, 503, 504, 507, 520...530:
                    .retry(.backOff, mayHaveArrived: true, reason: reason)
                case 300..<400, 401, 403, 404, 405, 407: .retry(.longest, mayHaveArrived: false, reason: reason)
                case 413: .split(reason: reason)
                default: .dropped(.rejected, reason: reason)
                }
            #expect(outcome == expected)
        }
    }

    @Test func noAttemptIsMadeBeforeTheCollectorsRetryAfter() {
        for status in [429, 502, 503, 504] {
            let answer = UploadAnswer(status: status, retryAfter: .seconds(7))
            guard case .retry(.notBefore(.seconds(7)), _, "status \(status)") = UploadOutcome(answer, signal: .metrics)
            else { return #expect(Bool(false), "\(status)") }
        }
    }

    /// A proxy that answers 503 may have passed the batch on. A collector names its store.
    @Test func onlyTheCollectorsOwnRefusalShowsThatItDoesNotHaveTheBatch() {
        for status in [429, 502, 503, 504] {
            let answer = UploadAnswer(status: status, store: ShortDigest(store: "s"))
            guard case .retry(_, let mayHaveArrived, _) = UploadOutcome(answer, signal: .metrics) else {
                return #expect(Bool(false), "\(status)")
            }
            #expect(mayHaveArrived == [502, 504].contains(status))
        }
    }

    @Test func batchWithoutAnAnswerIsNotLost() {
        for mayHaveArrived in [true, false] {
            #expect(
                UploadOutcome(.failed(mayHaveArrived: mayHaveArrived, reason: "reset"), signal: .metrics)
                    == .retry(.backOff, mayHaveArrived: mayHaveArrived, reason: "reset"))
        }
    }

    /// A proxy's page, a captive portal, a web server at a wrong port, a TLS port that was asked in plain HTTP.
    @Test(arguments: [
        (200, "text/html; charset=utf-8", "<!doctype html><title>Blocked</title>", "not an OTLP receiver's"),
        (200, "text/plain", "ok", "not an OTLP receiver's"), (202, "", "ok", "not an OTLP receiver's"),
        (200, "application/json", #"{"status":"ok"}"#, "not an OTLP receiver's"),
        (200, "application/json", #"{"partialSuccess":{},"path":"/v1/metrics"}"#, "not an OTLP receiver's"),
        (200, "application/json", #"["partialSuccess"]"#, "not an OTLP receiver's"),
        (200, "application/json", "null", "not an OTLP receiver's"), (200, "text/plain", "{", "not an OTLP receiver's"),
        // This text can be read as protobuf, with a field that no export response has.
        (202, "text/plain", "accepted.", "not an OTLP receiver's"), (200, "", "\n", "not an OTLP receiver's"),
        (400, "text/html", "\r\n<html>No required SSL certificate was sent</html>", "requires a client certificate"),
        (400, "text/html", "<html>The plain HTTP request was sent to HTTPS port</html>", "expects https"),
        (400, "", "Client sent an HTTP request to an HTTPS server.\n", "expects https"),
        (400, "TEXT/HTML", "Bad request", "not an OTLP receiver's"),
    ])
    func answerOfAnotherServerDeliversNothingAndLosesNothing(
        status: Int, contentType: String, body: String, reason: String
    ) {
        let answer = UploadAnswer(status: status, contentType: contentType, body: Array(body.utf8))
        let outcome = UploadOutcome(answer, signal: .metrics)
        guard case .retry(.longest, false, let said) = outcome else { return #expect(Bool(false), "\(outcome)") }
        #expect(said.contains(reason))
    }

    /// The answers of receivers that took a batch in protobuf.
    private static let receivers: [(name: String, status: Int, contentType: String, body: String)] = [
        ("OpenTelemetry Collector", 200, "application/x-protobuf", ""),
        ("OpenTelemetry Collector, an empty message", 200, "application/x-protobuf", "\n\0"),
        ("Mimir", 200, "Application/X-Protobuf; charset=utf-8", ""),
        ("a newer field of the message", 200, "application/x-protobuf", "\n\0\u{12}\u{1}x"),
        ("Prometheus, VictoriaMetrics", 200, "", ""),
        ("Fluent Bit", 201, "", ""), ("a relay that passes on later", 202, "text/plain; charset=utf-8", ""),
        ("Grafana Cloud", 204, "", ""), ("a web framework's default", 200, "text/html", ""),
        ("Trigger.dev", 200, "", "\n\0"), ("protobuf with the wrong content type", 200, "application/json", "\n\0"),
        ("Langfuse", 200, "application/json; charset=utf-8", "{}"),
        ("OTLP/JSON", 200, "application/json", #"{"partialSuccess":{}}"#),
        ("OTLP/JSON, indented", 200, "application/json", "\n{\n  \"partialSuccess\": null\n}\n"),
        ("OTLP/JSON, by its proto names", 200, "", #"{"partial_success": {"error_message": ""}}"#),
    ]

    @Test(arguments: receivers, Signal.allCases)
    func answerOfAnOTLPReceiverDelivers(
        receiver: (name: String, status: Int, contentType: String, body: String), signal: Signal
    ) {
        let answer = UploadAnswer(
            status: receiver.status, contentType: receiver.contentType, body: Array(receiver.body.utf8))
        #expect(UploadOutcome(answer, signal: signal) == .delivered())
    }

    @Test(arguments: [(Signal.metrics, "rejectedDataPoints"), (.traces, "rejectedSpans")])
    func rejectedPartIsReadFromJSON(signal: Signal, name: String) {
        for number in ["3", "\"3\""] {
            let body = #"{"partialSuccess":{"\#(name)":\#(number),"errorMessage":"too old"}}"#
            let answer = UploadAnswer(status: 200, contentType: "application/json", body: Array(body.utf8))
            #expect(
                UploadOutcome(answer, signal: signal)
                    == .delivered(refusal: .init(requests: nil, points: 3, reason: "status 200: too old")))
        }
    }

    @Test func rejectedPartOfABatchIsReportedWithTheReason() throws {
        var response = OTLPExportMetricsServiceResponse()
        response.partialSuccess.rejectedDataPoints = 3
        response.partialSuccess.errorMessage = "too old"
        let body: [UInt8] = try response.serializedBytes()
        #expect(
            UploadOutcome(UploadAnswer(status: 200, contentType: Uploader.contentType, body: body), signal: .metrics)
                == .delivered(refusal: .init(requests: nil, points: 3, reason: "status 200: too old")))
        #expect(
            UploadOutcome(
                UploadAnswer(status: 200, rejectedRequests: 40, contentType: Uploader.contentType, body: body),
                signal: .metrics)
                == .delivered(refusal: .init(requests: 40, points: 3, reason: "status 200: too old")))
        #expect(
            UploadOutcome(UploadAnswer(status: 200, rejectedRequests: 0), signal: .metrics) == .delivered())
    }

    /// A message of 123 bytes in protobuf begins with a line feed and a brace, as JSON may.
    @Test func protobufIsNotTakenForJSON() throws {
        var response = OTLPExportMetricsServiceResponse()
        response.partialSuccess.rejectedDataPoints = 3
        response.partialSuccess.errorMessage = String(repeating: "x", count: 119)
        let body: [UInt8] = try response.serializedBytes()
        #expect(body.starts(with: "\n{".utf8))
        let reason = "status 200: \(response.partialSuccess.errorMessage)"
        #expect(
            UploadOutcome(UploadAnswer(status: 200, body: body), signal: .metrics)
                == .delivered(refusal: .init(requests: nil, points: 3, reason: reason)))
    }

    @Test func warningWithoutARefusalIsASuccess() throws {
        var response = OTLPExportTraceServiceResponse()
        response.partialSuccess.errorMessage = "use another name"
        let body: [UInt8] = try response.serializedBytes()
        #expect(
            UploadOutcome(UploadAnswer(status: 200, contentType: Uploader.contentType, body: body), signal: .traces)
                == .delivered())
    }

    @Test func reasonIsTheCollectorsText() throws {
        var said = RPCStatus()
        said.message = "no protobuf"
        let answer = UploadAnswer(status: 400, body: try said.serializedBytes())
        #expect(UploadOutcome(answer, signal: .metrics) == .dropped(.rejected, reason: "status 400: no protobuf"))
    }

    @Test func hostileTextOfACollectorDoesNotReachTheTerminal() throws {
        var said = RPCStatus()
        said.message = "\u{1b}[2J" + String(repeating: "x", count: 60_000)
        let answer = UploadAnswer(status: 400, body: try said.serializedBytes())
        #expect(
            UploadOutcome(answer, signal: .metrics)
                == .dropped(.rejected, reason: "status 400: ?[2J" + String(repeating: "x", count: 296)))
    }

    @Test func retryAfterIsSecondsOrADate() {
        // 2026-11-21T10:00:00Z
        let now: UnixNanoseconds = 1_795_255_200_000_000_000
        #expect(RetryAfter.delay("7", now: now) == .seconds(7))
        #expect(RetryAfter.delay("Sat, 21 Nov 2026 10:00:30 GMT", now: now) == .seconds(30))
        #expect(RetryAfter.delay("Sat, 21 Nov 2026 09:00:00 GMT", now: now) == .zero)
        #expect(RetryAfter.delay("4294967295", now: now) == MartletLimits.retryAfter)
        #expect(RetryAfter.delay("Fri, 31 Dec 9999 23:59:59 GMT", now: now) == MartletLimits.retryAfter)
    }

    @Test(arguments: [
        "", "soon", "-1", "1.5", "99999999999999999999", "nan", "Sunday, 06-Nov-94 08:49:37 GMT",
        "Sun Nov  6 08:49:37 1994",
    ])
    func invalidRetryAfterIsIgnored(text: String) {
        #expect(RetryAfter.delay(text, now: Clock.wall()) == nil)
    }

    @Test func delaysDoubleUpToALimitAndRestartAfterASuccess() {
        var delay = RetryDelay()
        let delays = (0..<10).map { _ in delay.next(.backOff, random: 1) }
        #expect(delays.prefix(4) == [.seconds(1), .seconds(2), .seconds(4), .seconds(8)])
        #expect(delays.last == MartletLimits.longestRetry)
        delay = RetryDelay()
        #expect(delay.next(.backOff, random: 0) == .milliseconds(500))
    }

    @Test func retryAfterMakesADelayLongerAndNeverShorter() {
        var delay = RetryDelay()
        #expect(delay.next(.notBefore(.zero), random: 1) == .seconds(1))
        #expect(delay.next(.notBefore(.seconds(300)), random: 0) == .seconds(300))
        #expect(delay.next(.notBefore(.zero), random: 1) == .seconds(4))
    }

    @Test func agentsWithTheSameRetryAfterDoNotReturnAtOnce() {
        let waits = [0, 0.5, 1].map { random in
            var delay = RetryDelay()
            return delay.next(.notBefore(.seconds(300)), random: random)
        }
        #expect(waits == [.seconds(300), .seconds(375), .seconds(450)])
    }

    @Test func collectorThatCostsACoreWithoutAnsweringIsTriedLessAndLessOften() {
        var delay = RetryDelay()
        let delays = (0..<6).map { _ in delay.next(.costly, random: 1) }
        #expect(delays == [1, 8, 64, 512, 600, 600].map { .seconds($0) })
        #expect(delay.next(.backOff, random: 1) == MartletLimits.longestRetry)
        #expect(
            UploadOutcome(.timedOut(reason: "no answer in time"), signal: .traces)
                == .retry(.costly, mayHaveArrived: true, reason: "no answer in time"))
    }

    @Test func circuitAllowsOneAttemptPerDelay() {
        var circuit = UploadCircuit()
        #expect(circuit.allows(at: 0, isCallerWaiting: false))
        circuit.fail(.backOff, at: 1000)
        #expect(!circuit.allows(at: 1000, isCallerWaiting: false))
        #expect(circuit.allows(at: 1000, isCallerWaiting: true))
        #expect(circuit.allows(at: circuit.notBefore, isCallerWaiting: false))
        #expect(circuit.notBefore <= 1000 + MartletLimits.firstRetry.nanoseconds)
        circuit.fail(.longest, at: 1000)
        #expect(circuit.notBefore >= 1000 + MartletLimits.longestRetry.nanoseconds / 2)
        #expect(circuit.allows(at: 1000, isCallerWaiting: true))
        circuit.fail(.notBefore(.seconds(300)), at: 1000)
        #expect(!circuit.allows(at: 1000 + Duration.seconds(299).nanoseconds, isCallerWaiting: true))
    }
}
