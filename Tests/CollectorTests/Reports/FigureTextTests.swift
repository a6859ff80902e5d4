import Fixtures
import Foundation
import Testing

@testable import MartletReports

@Suite struct FigureTextTests {
    @Test func figuresAreRoundedAsPrintfDoes() {
        var random = SeededGenerator(seed: 1)
        var values: [Double] = [0, 0.5, 1.5, 2.5, 0.05, 0.125, 0.375, 1.005, 2.675, 999.9995, 0.9995, 0x1p53, 1e300]
        values += [-1, .infinity, .leastNonzeroMagnitude, .greatestFiniteMagnitude]
        for _ in 0..<20_000 {
            values.append(
                Double.random(in: 0...1, using: &random) * pow(10, Double.random(in: -6...12, using: &random)))
            // These values lie on or next to the border between rounding up and down.
            values.append(Double(Int.random(in: 0...1_000_000, using: &random)) / 2000)
        }
        for value in values {
            for digits in 0...3 {
                #expect(FigureText.fixed(value, digits) == String(format: "%.\(digits)f", value))
            }
        }
    }

    @Test func completenessIsRoundedDownAndOnlyACompleteWindowIsAHundred() {
        let wrong = (0...10_000).filter {
            FigureText.completeness(Double($0) / 10_000) != String(format: "%d.%02d %%", $0 / 100, $0 % 100)
        }
        #expect(wrong == [])
        #expect(FigureText.completeness(1.nextDown) == "99.99 %")
        #expect(FigureText.completeness(0.56996) == "56.99 %")
    }
}
