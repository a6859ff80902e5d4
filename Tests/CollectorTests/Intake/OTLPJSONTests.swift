import Foundation
import HummingbirdTesting
import MartletIntake
import MartletOTLP
import MartletTelemetry
import SwiftProtobuf
import Testing

/// OTLP as JSON (OTLP specification, "JSON Protobuf Encoding").
@Suite struct OTLPJSONTests {
    private let trace = "5B8EFFF798038103D269B633813FC60C"
    private let span = "EEE19B7EC3C1B174"

    /// Returns a span with these members in addition to its ids and times.
    private func body(_ members: String = #""name": "x""#, ids: String? = nil, around: String = "") -> [UInt8] {
        let ids = ids ?? #""traceId": "\#(trace)", "spanId": "\#(span)""#
        return Array(
            """
            {\(around) "resourceSpans": [{"scopeSpans": [{"spans": [{
                \(ids), "startTimeUnixNano": "1790000000000000000", "endTimeUnixNano": 1790000001500000000, \(members)
            }]}]}]}
            """.utf8)
    }

    private func taken(_ body: [UInt8]) throws -> IntakeResult<DetailsBatch> {
        try Intake().details(body, encoding: .identity, format: .json)
    }

    private func record(_ body: [UInt8]) throws -> SpanRecord {
        let taken = try taken(body)
        return try #require(taken.values.first?.details.first, "\(taken.refusals.message)")
    }

    @Test func idsAreHexadecimalInEitherCase() throws {
        for spell in [{ $0 }, { $0.lowercased() }] as [(String) -> String] {
            let record = try record(
                body(
                    #""parentSpanId": "\#(spell("EEE19B7EC3C1B173"))", "links": [{"traceId": "\#(spell(trace))", "spanId": "\#(spell("00000000000000AB"))"}]"#,
                    ids: #""traceId": "\#(spell(trace))", "spanId": "\#(spell(span))""#))
            #expect(record.traceID.description == trace.lowercased())
            #expect(record.spanID.description == span.lowercased())
            #expect(record.parentSpanID?.description == "eee19b7ec3c1b173")
            #expect(record.links.map(\.spanID.description) == ["00000000000000ab"])
            #expect(record.links.map(\.traceID.description) == [trace.lowercased()])
        }
    }

    @Test func spanWithoutAParentIsARoot() throws {
        #expect(try record(body()).parentSpanID == nil)
        #expect(try record(body(#""parentSpanId": """#)).parentSpanID == nil)
    }

    /// The last one is the base64 of 16 bytes, the size of a trace ID.
    @Test(arguments: [
        "", "5B8E", "5B8EFFF798038103D269B633813FC60", "5B8EFFF798038103D269B633813FC60G",
        "5B8EFFF798038103D269B633813FC60C00", "W47/95gDgQPSabYzgT/GDA==",
    ])
    func invalidTraceIDIsRefusedWithASentence(id: String) throws {
        let taken = try taken(body(ids: #""traceId": "\#(id)", "spanId": "\#(span)""#))
        #expect(taken.values.isEmpty)
        #expect(taken.refusals.message == "1 rejected: the span has no valid ids")
    }

    @Test(arguments: ["7uGbfsPBsXQ=", "EEE1", "zzzzzzzzzzzzzzzz"])
    func spanWithAnInvalidParentIDIsRefused(id: String) throws {
        #expect(try taken(body(#""parentSpanId": "\#(id)""#)).refusals.total == 1)
    }

    @Test func enumsAreReadAsIntegersAndAsNames() throws {
        #expect(try record(body(#""kind": 3, "status": {"code": 2}"#)).kind == .client)
        #expect(try record(body(#""kind": 3, "status": {"code": 2}"#)).isError)
        #expect(try record(body(#""kind": "SPAN_KIND_SERVER""#)).kind == .server)
    }

    @Test(
        arguments: [
            (#""SPAN_KIND_CLIENT""#, .client), (#""CLIENT""#, .client), (#" "client" "#, .client), (#""3""#, .client),
            (#""Server""#, .server), (#""2""#, .server), (#""span_kind_producer""#, .producer),
            (#""UNSPECIFIED""#, .internal),
            (#""0""#, .internal), ("5", .consumer),
        ] as [(String, SpanRecord.Kind)])
    func kindIsReadInEveryForm(kind: String, expected: SpanRecord.Kind) throws {
        #expect(try record(body(#""kind" :\#n\#(kind), "name": "kind""#)).kind == expected)
    }

    @Test(
        arguments: [
            (#""STATUS_CODE_ERROR""#, true), (#""ERROR""#, true), (#""Error""#, true), (#""2""#, true),
            (#""OK""#, false),
            (#""unset""#, false), (#""1""#, false), ("2", true),
        ])
    func statusIsReadInEveryForm(code: String, isError: Bool) throws {
        #expect(try record(body(#""status": {"message": "x", "code": \#(code)}"#)).isError == isError)
    }

    @Test(arguments: [
        #""kind": "CLIENTS""#, #""kind": """#, #""status": {"code": "FAILED"}"#, #""kind": "CLI\u0045NT""#,
        #""kind": 99"#, #""kind": "6""#, #""status": {"code": "500"}"#, #""status": {"code": 3}"#,
    ])
    func spanWithAnUnknownNameOrNumberIsRefused(member: String) throws {
        let taken = try taken(body(member))
        #expect(taken.values.isEmpty)
        #expect(taken.refusals.message == "1 rejected: the span's kind or status code is not one of OpenTelemetry's")
    }

    /// An attribute may have the name of an enum, and a text may look like one.
    @Test func onlyEnumsAreReadAsEnums() throws {
        let text = #"{\"kind\": \"CLIENT\", \"code\":\"2\"}"#
        let record = try record(
            body(
                """
                "kind": "SERVER", "name": "\(text)", "attributes": [
                    {"key": "kind", "value": {"stringValue": "CLIENT"}}, {"key": "code", "value": {"stringValue": "2"}}]
                """))
        #expect(record.kind == .server)
        #expect(record.name == #"{"kind": "CLIENT", "code":"2"}"#)
        #expect(record.attributes == ["kind": .string("CLIENT"), "code": .string("2")])
    }

    @Test(
        arguments: ["aggregationTemporality", "aggregation_temporality"],
        [
            (#""DELTA""#, 5), (#""delta""#, 5), (#""1""#, 5), ("1", 5), (#""AGGREGATION_TEMPORALITY_DELTA""#, 5),
            (#""BETA""#, 0),
        ])
    func temporalityIsReadInEveryForm(key: String, form: (String, UInt64)) throws {
        let message = try OTLPExportMetricsServiceRequest(serializedBytes: try Samples.body())
        let json = try message.jsonString().replacingOccurrences(
            of: #""aggregationTemporality":"AGGREGATION_TEMPORALITY_DELTA""#, with: #""\#(key)":\#(form.0)"#)
        #expect(json.contains(#""\#(key)":\#(form.0)"#))
        let taken = try Intake().metrics(Array(json.utf8), encoding: .identity, format: .json)
        #expect(taken.values.reduce(0) { $0 + $1.requests } == form.1)
        #expect(taken.refusals.message.contains("neither delta nor cumulative") == (form.1 == 0))
    }

    @Test func unknownFieldsAreIgnoredEverywhere() throws {
        let unknown = #""tomorrow": {"a": [1, [2, {"b": null}], "\"}"], "c": true},"#
        let record = try record(body(unknown + #""name": "n""#, around: unknown))
        #expect(record.name == "n")
    }

    @Test func everyKindOfAttributeIsRead() throws {
        let record = try record(
            body(
                """
                "attributes": [
                    {"key": "s", "value": {"stringValue": "é\\u00e9\\ud83d\\ude00"}}, {"key": "b", "value": {"boolValue": true}},
                    {"key": "d", "value": {"doubleValue": 1e3}}, {"key": "i", "value": {"doubleValue": "Infinity"}},
                    {"key": "n", "value": {"intValue": 9007199254740993}}, {"key": "t", "value": {"intValue": "9007199254740993"}},
                    {"key": "a", "value": {"arrayValue": {"values": [{"intValue": 1}, {"intValue": "2"}]}}}]
                """))
        #expect(record.attributes["s"] == .string("éé😀"))
        #expect(record.attributes["b"] == .boolean(true))
        #expect(record.attributes["d"] == .double(1000))
        #expect(record.attributes["i"] == .double(.infinity))
        #expect(record.attributes["n"] == .integer(9_007_199_254_740_993))
        #expect(record.attributes["t"] == .integer(9_007_199_254_740_993))
        #expect(record.attributes["a"] == .array([.integer(1), .integer(2)]))
    }

    /// Some encoders write numbers that JSON does not have.
    @Test func infinityAndNaNAreReadWithoutQuotes() throws {
        let text = #"NaN: [Infinity], \"-Infinity\\"#
        let record = try record(
            body(
                """
                "name": "\(text)", "attributes": [
                    {"key": "i", "value": {"doubleValue": Infinity}}, {"key": "m", "value": {"doubleValue":-Infinity }},
                    {"key": "n", "value": {"doubleValue":NaN}}, {"key": "a", "value": {"arrayValue": {"values": [{"doubleValue": Infinity}]}}}]
                """))
        #expect(record.name == #"NaN: [Infinity], "-Infinity\"#)
        #expect(record.attributes["i"] == .double(.infinity))
        #expect(record.attributes["m"] == .double(-.infinity))
        #expect(record.attributes["a"] == .array([.double(.infinity)]))
        #expect(record.attributes["n"].map { "\($0)" } == "double(nan)")
    }

    @Test func boundMayBeInfinityWithoutQuotes() throws {
        let point = OtherMetrics.point([0.2, 0.3, 2], bounds: [0.25, .infinity])
        let message = OtherMetrics.request(scopes: [[OtherMetrics.histogram([point], .delta)]])
        let json = try message.jsonString().replacingOccurrences(of: #""Infinity""#, with: "Infinity")
        #expect(json.contains(",Infinity]"))
        let taken = try Intake().metrics(Array(json.utf8), encoding: .identity, format: .json)
        #expect(taken.values.map(\.requests) == [3])
        #expect(taken.refusals.message == "")
    }

    @Test(arguments: [
        (#"\ud83d"#, "\u{FFFD}"), (#"\uDE00"#, "\u{FFFD}"), (#"\ud83dx"#, "\u{FFFD}x"),
        (#"\ud83d\ud83d\ude00"#, "\u{FFFD}😀"), (#"\ud83d\u0041"#, "\u{FFFD}A"), (#"\ude00\ud83d"#, "\u{FFFD}\u{FFFD}"),
        (#"\\ud83d \ud83d"#, #"\ud83d "# + "\u{FFFD}"), (#"\"\ud83d\n"#, "\"\u{FFFD}\n"),
    ])
    func halfASurrogatePairIsReplaced(escaped: String, text: String) throws {
        #expect(try record(body(#""name": "\#(escaped)""#)).name == text)
        #expect(try record(body(#""status": {"message": "\#(escaped)"}"#)).message == text)
    }

    @Test(arguments: [[0xff], [0xc3], [0xe2, 0x82], [0xf0, 0x9f, 0x98], [0xed, 0xa0, 0xbd]] as [[UInt8]])
    func bytesThatAreNotUTF8AreReplaced(bytes: [UInt8]) throws {
        var body = body(#""name": "@@@@""#)
        let start = try #require(Data(body).range(of: Data("@@@@".utf8))).lowerBound
        body.replaceSubrange(start..<start + 4, with: bytes)
        #expect(try record(body).name == String(decoding: bytes, as: UTF8.self))
    }

    @Test(arguments: [
        "", "[]", "nonsense", #"{"resourceSpans": {}}"#, #"{"resourceSpans": [{}]"#, #"{"resourceSpans": [{}]} x"#,
        #"{"resourceSpans": [{"scopeSpans": [{"spans": [{"name": 5}]}]}]}"#,
        #"{"resourceSpans": [{"scopeSpans": [{"spans": [{"startTimeUnixNano": "-1"}]}]}]}"#,
    ])
    func bodyThatIsNoMessageIs400(text: String) async throws {
        try await withServer { client in
            let answer = try await client.post(Array(text.utf8), to: "/v1/traces", type: "application/json")
            #expect(answer.status == .badRequest)
            let status = try #require(
                try JSONSerialization.jsonObject(with: Data(buffer: answer.body)) as? [String: Any])
            #expect(status["code"] as? Int == 3)
            #expect(status["message"] as? String == "the body is not an OTLP JSON message")
        }
    }

    @Test func metricsReadTheSameAsFromProtobuf() async throws {
        let message = try OTLPExportMetricsServiceRequest(serializedBytes: try Samples.body())
        let json: [UInt8] = try message.jsonUTF8Bytes()
        try await withServer { client in
            let answer = try await client.post(json, type: "application/json; charset=utf-8")
            #expect(answer.status == .ok)
            #expect(answer.headers[.contentType] == "application/json")
            #expect(String(buffer: answer.body) == "{}")
            #expect(try await client.count() == 5)
            let zipped = try await client.post(try Gzip.compress(json), type: "application/json", encoding: "gzip")
            #expect(zipped.status == .ok)
            #expect(try await client.count() == 10)
        }
    }

    @Test func refusalOfAJSONBodyIsJSON() async throws {
        let refused = body(ids: #""traceId": "00", "spanId": "00""#)
        try await withServer { client in
            let answer = try await client.post(refused, to: "/v1/traces", type: "application/json")
            #expect(answer.status == .ok)
            #expect(
                try JSONSerialization.jsonObject(with: Data(buffer: answer.body)) as? NSDictionary == [
                    "partialSuccess": [
                        "rejectedSpans": "1", "errorMessage": "1 rejected: the span has no valid ids",
                    ]
                ])
        }
    }
}
