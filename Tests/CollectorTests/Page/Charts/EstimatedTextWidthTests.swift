import Testing

@testable import MartletPage

@Suite struct EstimatedTextWidthTests {
    @Test(arguments: [
        "recommendations-api.internal.eu-central-1.example.com", "wwwwwwwwwwwwwwwwwwwwwwwwwwwwwwww",
        "イイイイイイイイイイイイイイイイイイイイ",
    ])
    func cutHostKeepsItsPort(host: String) {
        let cut = EstimatedTextWidth.cut("\(host):65535", to: 12.8, isBold: true)
        #expect(cut.hasSuffix(":65535") && cut.contains("…"))
    }

    @Test func fewerWideLettersFit() {
        let (narrow, wide) = (String(repeating: "i", count: 40), String(repeating: "W", count: 40))
        #expect(EstimatedTextWidth.cut(narrow, to: 10, isBold: false).count > 20)
        #expect(EstimatedTextWidth.cut(wide, to: 10, isBold: false).count == 10)
        #expect(EstimatedTextWidth.cut(wide, to: 10, isBold: true).count == 8)
    }

    @Test func textThatFitsIsNotCut() {
        #expect(EstimatedTextWidth.cut("storefront", to: 12.8, isBold: true) == "storefront")
        #expect(EstimatedTextWidth.cut("", to: 12.8, isBold: true).isEmpty)
    }
}
