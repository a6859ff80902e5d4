import MartletTelemetry
import Testing

@testable import Martlet

/// W3C Trace Context, section 3.2.
@Suite struct TraceParentTests {
    private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    private static let span = "00f067aa0ba902b7"

    @Test(arguments: [("01", true), ("00", false), ("03", true), ("fe", false), ("ff", true)])
    func onlyTheLastFlagMeansSampled(flags: String, isSampled: Bool) throws {
        let parent = try #require(TraceParent("00-\(Self.trace)-\(Self.span)-\(flags)"))
        #expect(parent.traceID.description == Self.trace)
        #expect(parent.spanID.description == Self.span)
        #expect(parent.isSampled == isSampled)
    }

    @Test func unknownFlagsAreNotPassedOn() {
        let header = "00-\(Self.trace)-\(Self.span)-03"
        #expect(TraceParent(header)?.text == "00-\(Self.trace)-\(Self.span)-01")
    }

    @Test(arguments: [" ", "\t", "  \t"])
    func blanksAtTheEndsAreIgnored(blanks: String) {
        #expect(TraceParent("\(blanks)00-\(Self.trace)-\(Self.span)-01\(blanks)") != nil)
    }

    @Test(arguments: ["", "-", "-what-comes-later", "-00"])
    func laterVersionIsReadLikeTheFirst(rest: String) {
        #expect(TraceParent("cc-\(Self.trace)-\(Self.span)-01\(rest)") != nil)
    }

    @Test(arguments: [
        "", "00", "00-\(trace)", "00-\(trace)-\(span)", "00-\(trace)-\(span)-", "00-\(trace)-\(span)-1",
        "00-\(trace)-\(span)-001", "00-\(trace)-\(span)-0x", "00-\(trace)-\(span)-01-", "00-\(trace)-\(span)-01-00",
        "00-\(trace)-\(span)-01,00-\(trace)-\(span)-01", "ff-\(trace)-\(span)-01", "0-\(trace)-\(span)-01",
        "0g-\(trace)-\(span)-01", "-\(trace)-\(span)-01", "cc-\(trace)-\(span)-01x",
        "00-\(trace.uppercased())-\(span)-01", "00-\(trace)-\(span.uppercased())-01",
        "00-\(trace.dropLast())-\(span)-01", "00-\(trace)0-\(span)-01", "00-\(trace)-\(span.dropLast())-01",
        "00-\(trace)-\(span)0-01", "00-00000000000000000000000000000000-\(span)-01", "00-\(trace)-0000000000000000-01",
        "00-+bf92f3577b34da6a3ce929d0e0e4736-\(span)-01", "00-\(trace) -\(span)-01", "00_\(trace)_\(span)_01",
    ])
    func invalidHeaderIsIgnored(header: String) {
        #expect(TraceParent(header) == nil)
    }
}
