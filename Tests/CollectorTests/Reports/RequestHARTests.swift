import Foundation
import MartletStorage
import MartletTelemetry
import Testing

@testable import MartletReports

@Suite struct RequestHARTests {
    private func har(
        _ phases: [RequestPhase: Double], milliseconds: UInt64, _ change: (inout SpanRecord) -> Void = { _ in }
    ) throws -> RequestHAR.Entry {
        var span = Samples.detail(1)
        span.durationNanoseconds = milliseconds * 1_000_000
        span.attributes = Dictionary(
            uniqueKeysWithValues: phases.map { ("martlet.phase.\($0.key.rawValue)", .double($0.value / 1000)) })
        change(&span)
        let stored = StoredSpan(id: "a", resource: Samples.resource(), span: span)
        let report = try #require(RequestReport(stored, trace: TraceAnswer(spans: [stored], more: 0)))
        return try #require(RequestHAR(report).log.entries.first)
    }

    @Test func theTimingsAddUpToTheTimeAndTLSIsWithinConnect() throws {
        let entry = try har(
            [.queue: 1, .dns: 2, .connect: 4, .tls: 8, .firstByte: 16, .transfer: 32], milliseconds: 63)
        let timings = entry.timings
        #expect([timings.blocked, timings.dns, timings.connect, timings.ssl] == [1, 2, 12, 8])
        #expect([timings.send, timings.wait, timings.receive] == [0, 16, 32])
        #expect(entry.time == 63)
    }

    @Test func aPhaseThatARequestDidNotHaveIsMinusOne() throws {
        let timings = try har([.queue: 1, .firstByte: 2, .transfer: 3], milliseconds: 10).timings
        #expect([timings.dns, timings.connect, timings.ssl] == [-1, -1, -1])
        #expect(timings.wait == 6)
        #expect(timings.sum == 10)
    }

    @Test func aRequestWithoutPhasesWaitedAllTheTime() throws {
        let entry = try har([:], milliseconds: 10)
        #expect(entry.timings.blocked == -1)
        #expect(entry.timings.wait == 10)
        #expect(entry.time == 10)
    }

    @Test func aRequestThatGotNoAnswerHasStatusZeroAndItsError() throws {
        let entry = try har([.queue: 1, .dns: 2], milliseconds: 100) {
            ($0.request, $0.message) = (Samples.dimensions(status: nil, error: "timeout"), "too slow")
        }
        #expect(entry.timings.connect == 97)
        #expect(entry.response.status == 0)
        #expect(entry.response.error == "timeout: too slow")
    }

    @Test func itParsesWithTheFieldsOfTheSpecification() throws {
        let json = try ReportJSON.text(of: RequestHAR(try #require(SampleRequest.report)))
        let object = try #require(JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: [String: Any]])
        let log = try #require(object["log"])
        #expect(log["version"] as? String == "1.2")
        #expect((log["creator"] as? [String: String])?["name"] == "Martlet")
        let entry = try #require((log["entries"] as? [[String: Any]])?.first)
        let timings = try #require(entry["timings"] as? [String: Double])
        let sum = timings.filter { $0.key != "ssl" && $0.value > 0 }.values.reduce(0, +)
        #expect(abs(sum - (entry["time"] as? Double ?? 0)) < 1e-9)
        let request = try #require(entry["request"] as? [String: Any])
        #expect(
            Set(request.keys) == [
                "method", "url", "httpVersion", "cookies", "headers", "queryString", "postData", "headersSize",
                "bodySize",
            ])
        #expect(
            request["queryString"] as? [[String: String]] == [
                ["name": "retry", "value": "1"], ["name": "note", "value": "it's"],
            ])
        #expect((request["headers"] as? [[String: String]])?.first == ["name": "authorization", "value": "[redacted]"])
        let response = try #require(entry["response"] as? [String: Any])
        #expect(
            Set(response.keys) == [
                "status", "statusText", "httpVersion", "cookies", "headers", "content", "redirectURL", "headersSize",
                "bodySize", "_error",
            ])
        #expect(entry["cache"] as? [String: String] == [:])
    }
}
