import Foundation
import MartletReports
import MartletStorage
import MartletTelemetry
import Testing

@Suite struct RequestTextTests {
    private func report(_ change: (inout SpanRecord) -> Void = { _ in }, others: [SpanRecord] = []) throws
        -> RequestReport
    {
        var span = Samples.detail(1)
        span.attributes = [
            "martlet.phase.queue": .double(0.001), "martlet.phase.first_byte": .double(0.2),
            "http.request.header.content-type": .array([.string("application/json")]),
            "http.request.header.authorization": .array([.string("[redacted]")]),
            "http.request.header.content-length": .array([.string("13")]),
            "martlet.request.body": .string("{\"it's\":\"é\"}"),
        ]
        change(&span)
        let stored = ([span] + others).enumerated().map {
            StoredSpan(id: "a\($0.offset)", resource: Samples.resource(), span: $0.element)
        }
        return try #require(RequestReport(stored[0], trace: TraceAnswer(spans: stored, more: 0)))
    }

    @Test func requestBecomesACommandThatSendsItAgain() throws {
        #expect(
            RequestText.text(of: try report()).hasSuffix(
                """

                curl --globoff -X GET --url https://api.example.com/users/7 -H 'authorization: [redacted]' \
                -H 'content-type: application/json' --data-raw '{"it'\\''s":"é"}'

                """))
    }

    @Test func callOfADatabaseNamesItsSystemAndHasNoCommand() throws {
        let text = RequestText.text(
            of: try report { span in
                span.request?.system = "postgresql"
                span.request?.method = "SELECT"
                span.request?.endpoint = "SELECT users"
                (span.url, span.attributes) = ("", [:])
            })
        #expect(text.hasPrefix("SELECT api.example.com:443 users\n"))
        #expect(text.contains("  system       postgresql\n"))
        #expect(!text.contains("curl"))
    }

    /// Runs the command in a real shell, with a function in place of curl.
    @Test(arguments: [
        "'; echo stolen; '", "'\u{301}; echo stolen; '\u{301}", "$(echo stolen)", "`echo stolen`", "\\'; echo stolen #",
    ])
    func everyTextStaysOneWordOfTheCommand(hostile: String) throws {
        let text = RequestText.text(
            of: try report {
                $0.url = "https://api.example.com/" + hostile
                $0.attributes = [
                    "http.request.header.x-" + hostile: .array([.string(hostile)]),
                    "martlet.request.body": .string(hostile),
                ]
            })
        let command = try #require(text.split(separator: "\n").last)
        let shell = Process()
        shell.executableURL = URL(fileURLWithPath: "/bin/sh")
        shell.arguments = ["-c", "curl() { echo $#; }; " + command]
        let output = Pipe()
        shell.standardOutput = output
        try shell.run()
        let printed = try output.fileHandleForReading.readToEnd().map { String(decoding: $0, as: UTF8.self) }
        shell.waitUntilExit()
        #expect(printed == "9\n")
    }

    @Test func commandOfAHeadRequestDoesNotWaitForABody() throws {
        let command = CurlCommand.text(of: try report { $0.request?.method = "HEAD" })
        #expect(command?.hasPrefix("curl --globoff --head --url https://api.example.com/users/7") == true)
    }

    @Test func textFromASenderIsNeverAnOptionOrAFile() throws {
        let command = CurlCommand.text(
            of: try report {
                $0.url = "-o/etc/passwd"
                $0.attributes = [
                    "http.request.header.@file": .array([.string("x")]),
                    "http.request.header.x-empty": .array([.string("")]),
                ]
            })
        #expect(command?.contains("--url -o/etc/passwd") == true)
        #expect(command?.contains("@file") == false)
        #expect(command?.contains("-H 'x-empty;'") == true)
    }

    @Test func noCommandIsShownWithoutAnAddress() throws {
        #expect(RequestText.text(of: try report { $0.url = "" }).contains("curl") == false)
    }

    @Test func commandOfAnIncomingRequestHasTheKeptHost() throws {
        func command(_ host: String?, scheme: String? = nil, header: String? = nil) throws -> String? {
            CurlCommand.text(
                of: try report {
                    ($0.kind, $0.url) = (.server, "/users/7?a=1")
                    $0.request = RequestDimensions(
                        kind: .server, method: "GET", host: host ?? "", port: 0, endpoint: "/users/{id}", status: 200,
                        error: nil)
                    $0.attributes = [:]
                    if let scheme { $0.attributes["url.scheme"] = .string(scheme) }
                    if let header { $0.attributes["http.request.header.host"] = .array([.string(header)]) }
                })
        }
        #expect(try command("shop.example") == "curl --globoff -X GET --url 'http://shop.example/users/7?a=1'")
        #expect(try command("shop.example", scheme: "https")?.contains("'https://shop.example/") == true)
        #expect(try command(nil, header: "shop.example:8080")?.contains("'http://shop.example:8080/users") == true)
        #expect(try command(nil) == nil)
    }

    @Test func traceIsATreeWithEachSpanUnderItsCaller() throws {
        func span(_ number: UInt8, under parent: UInt8) -> SpanRecord {
            var span = Samples.detail(number)
            span.traceID = Samples.detail(1).traceID
            span.parentSpanID = Samples.detail(parent).spanID
            span.name = "span \(number)"
            return span
        }
        // 4 and 5 call each other, which no honest sender reports. The parent of 6 is not kept.
        let others = [
            span(2, under: 1), span(3, under: 2), span(4, under: 5), span(5, under: 4), span(6, under: 99),
            span(7, under: 1),
        ]
        let text = RequestText.text(of: try report({ $0.name = "span 1" }, others: others))
        let lines = text.split(separator: "\n").filter { $0.contains("calls span") && !$0.contains("first to fail") }
        let indents = lines.map { $0.components(separatedBy: "calls")[0].count }
        #expect(lines.map { $0.split(separator: "span ")[1].first } == ["1", "2", "3", "7", "6", "4", "5"])
        #expect(indents.map { $0 - indents[0] } == [0, 2, 4, 2, 0, 0, 2])
    }

    @Test(arguments: ["\u{1b}[2J", "\u{202e}", "\r\n", "\u{200b}", "\u{9b}2J"])
    func hostileTextIsEscaped(hostile: String) throws {
        let text = RequestText.text(
            of: try report {
                $0.url = "https://a/" + hostile
                $0.message = hostile
                $0.name = hostile
                $0.request?.endpoint = hostile
                $0.attributes = [hostile: .string(hostile), "martlet.request.body": .string(hostile)]
            })
        for scalar in hostile.unicodeScalars where scalar != "\n" && (scalar.value < 0x20 || scalar.value > 0x7e) {
            #expect(!text.unicodeScalars.contains(scalar))
        }
    }
}
