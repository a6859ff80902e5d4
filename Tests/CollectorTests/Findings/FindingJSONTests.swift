import Foundation
import Testing

@testable import MartletFindings

/// The form in which findings are sent.
@Suite struct FindingJSONTests {
    @Test func findingHasAllItsNames() throws {
        var fleet = SampleFleet()
        let call = SampleFleet.Traffic.client("todos", to: "partner")
        fleet.play(40, [call])
        fleet.play(10, [call.failing(0.9)])
        let finding = try #require(fleet.findings().first)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let text = String(decoding: try encoder.encode(finding), as: UTF8.self)
        let names = [
            "after", "also", "before", "command", "cost", "deployment", "id", "is_open", "kind", "page", "side",
            "since", "subject", "title", "until", "what", "who",
        ]
        let values = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        #expect(values.keys.sorted() == names)
        #expect(text.contains(#""kind":"failing""#) && text.contains(#""until":null"#))
        #expect(
            text.contains(
                #""subject":{"endpoint":"/orders","host":"partner:80","kind":"client","method":"POST","service":"todos"}"#
            ))
        #expect(text.contains(#""what":[{"count":"#) && text.contains(#""value":"503""#))
    }

    @Test func titleSaysWhatWasBefore() throws {
        var fleet = SampleFleet()
        let orders = SampleFleet.Traffic.server("orders")
        fleet.play(40, [orders])
        fleet.play(10, [orders.failing(1)])
        let title = try #require(fleet.findings().first).title
        #expect(
            title.wholeMatch(
                of:
                    /POST \/orders of orders fails since \d\d:\d\d in 100 % of 1,\d\d\d requests \(before: 0 of 4,\d\d\d\)/
            ) != nil)
    }

    @Test func commandQuotesWhatAShellWouldRead() throws {
        var fleet = SampleFleet()
        let files = SampleFleet.Traffic.server("files", "/files/{name}'s")
        fleet.play(40, [files])
        fleet.play(10, [files.failing(0.9)])
        let finding = try #require(fleet.findings().first)
        #expect(finding.command.contains(#"--endpoint '/files/{name}'\''s'"#))
        #expect(
            finding.page.hasPrefix("/endpoint?service=files&kind=server&method=POST&endpoint=%2Ffiles%2F%7Bname%7D%27s")
        )
    }
}
