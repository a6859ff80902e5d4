import Fixtures
import Foundation
import Testing

@testable import MartletReports

@Suite struct FigureTextTests {
    @Test func figuresAreRoundedLikePrintf() {
        var random = SeededGenerator(seed: 1)
        var values: [Double] = [0, 0.5, 1.5, 2.5, 0.05, 0.125, 0.375, 1.005, 2.675, 999.9995, 0.9995, 0x1p53, 1e300]
        values += [-1, .infinity, .leastNonzeroMagnitude, .greatestFiniteMagnitude]
        for _ in 0..<20_000 {
            values.append(
                Double.random(in: 0...1, using: &random) * pow(10, Double.random(in: -6...12, using: &random)))
            // These values are on or next to the border between rounding up and down.
            values.append(Double(Int.random(in: 0...1_000_000, using: &random)) / 2000)
        }
        for value in values {
            for digits in 0...3 {
                #expect(FigureText.fixed(value, digits) == String(format: "%.\(digits)f", value))
            }
        }
    }

    @Test func completenessIsRoundedDownAndOnlyACompleteWindowReads100() {
        let wrong = (0...10_000).filter {
            FigureText.completeness(Double($0) / 10_000) != String(format: "%d.%02d %%", $0 / 100, $0 % 100)
        }
        #expect(wrong == [])
        #expect(FigureText.completeness(1.nextDown) == "99.99 %")
        #expect(FigureText.completeness(0.56996) == "56.99 %")
    }

    @Test(arguments: [
        (0, "0"), (0.0004, "<0.001"), (0.0005, "0.001"), (0.778, "0.778"), (1, "1.00"), (9.61, "9.61"), (10.9, "10.9"),
        (99.9, "99.9"), (811.4, "811"), (1614, "1,614"), (1_234_567.4, "1,234,567"), (1e15, "1e+15"),
        (.greatestFiniteMagnitude, "2e+308"), (.nan, "–"), (.infinity, "–"),
    ])
    func figureHasThreeDigitsOrMore(value: Double, text: String) {
        #expect(FigureText.figure(value) == text)
    }

    @Test func onlyNoneReadsAs0AndOnlyAllReadsAs100PerCent() {
        #expect(FigureText.percent(0) == "0.00")
        #expect(FigureText.percent(1) == "100.00")
        #expect(FigureText.percent(1e-9) == "<0.01")
        #expect(FigureText.percent(1.nextDown) == ">99.99")
        #expect(FigureText.percent(0.0832) == "8.32")
    }

    @Test(
        arguments: [
            (0, "0 s", "0 s"), (59, "59 s", "59 s"), (60, "1 min", "1 min"), (119, "1 min 59 s", "1 min"),
            (3599, "59 min", "59 min"),
            (3600, "1 h", "1 h"),
            (11_520, "3 h 12 min", "3 h"), (86_400, "1 d", "1 d"), (180_000, "2 d 2 h", "2 d"),
        ] as [(UInt64, String, String)])
    func ageUsesItsLargestUnits(seconds: UInt64, text: String, short: String) {
        #expect(FigureText.age(seconds) == text)
        #expect(FigureText.age(seconds, isShort: true) == short)
    }

    @Test func thousandsAreGrouped() {
        #expect(FigureText.grouped(999) == "999")
        #expect(FigureText.grouped(1000) == "1,000")
        #expect(FigureText.grouped(1_002_003) == "1,002,003")
        #expect(FigureText.grouped(.max) == "18,446,744,073,709,551,615")
    }

    @Test(
        arguments: [
            ("SELECT", "SELECT users", "users"), ("SELECT", "select ?", "?"), ("GET", "GET", ""),
            ("SELECT", "SELECTED", "SELECTED"),
            ("GET", "/users/{id}", "/users/{id}"), ("", "users", "users"), ("send", "orders", "orders"),
        ])
    func operationInFrontOfAnEndpointIsNotRepeated(method: String, endpoint: String, rest: String) {
        #expect(EndpointName.text(endpoint, after: method) == rest)
        #expect(EndpointName.text(method, endpoint) == [method, rest].filter { !$0.isEmpty }.joined(separator: " "))
    }
}
