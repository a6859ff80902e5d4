import Testing

@testable import Martlet

/// W3C Trace Context, section 3.3.
@Suite struct TraceStateTests {
    @Test(arguments: [
        "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE", "a=b", "fw529a3039@dt=FfgTlQ,0=1", "0a_-*/@z=!+-:;<>?~ \"#~",
    ])
    func listIsPassedOnInOrder(list: String) {
        #expect(TraceState.passedOn(list) == list)
    }

    @Test func blanksAndEmptyMembersAreLeftOut() {
        #expect(TraceState.passedOn(" a=1 ,\t, b=2 ,,") == "a=1,b=2")
        #expect(TraceState.passedOn("  ") == "")
        #expect(TraceState.passedOn("") == "")
    }

    @Test func valueKeepsInnerBlanksAndLosesOuterOnes() {
        #expect(TraceState.passedOn("a= 1 2 ,b=3") == "a= 1 2,b=3")
    }

    @Test(arguments: [
        "a", "=1", "a=", "A=1", "a b=1", "ä=1", "a=ä", "a=1=2", "a=\u{7f}", "a=\t1", "_a=1", "@a=1", "a=1,b", "a=1,a=2",
    ])
    func invalidListIsDroppedAsAWhole(list: String) {
        #expect(TraceState.passedOn(list) == "")
    }

    @Test func keysAndValuesHaveAtMost256Characters() {
        let (fits, tooLong) = (String(repeating: "x", count: 256), String(repeating: "x", count: 257))
        #expect(TraceState.passedOn("\(fits)=1") == "\(fits)=1")
        #expect(TraceState.passedOn("a=\(fits)") == "a=\(fits)")
        #expect(TraceState.passedOn("\(tooLong)=1") == "")
        #expect(TraceState.passedOn("a=\(tooLong)") == "")
    }

    @Test func listHasAtMost32Members() {
        let list = { (count: Int) in (0..<count).map { "k\($0)=1" }.joined(separator: ",") }
        #expect(TraceState.passedOn(list(32)) == list(32))
        #expect(TraceState.passedOn(list(33)) == "")
    }

    @Test func listOver512CharactersLosesLongMembersFirstThenTheLast() {
        let long = "long=" + String(repeating: "x", count: 150)
        let short = (0..<5).map { "k\($0)=" + String(repeating: "y", count: 100) }
        #expect(TraceState.passedOn(([long] + short).joined(separator: ",")) == short[..<4].joined(separator: ","))
        let exact = ["a=" + String(repeating: "z", count: 254), "b=" + String(repeating: "z", count: 253)]
        #expect(TraceState.passedOn(exact.joined(separator: ",")).utf8.count == 512)
        #expect(TraceState.passedOn((exact + ["c=1"]).joined(separator: ",")) == exact[0] + ",c=1")
    }
}
