import Testing

@testable import MartletPage
@testable import MartletReports

@Suite struct PhaseStripTests {
    private func markup(_ phases: [String: Double], _ duration: Double, longest: Double = 999) -> String {
        String(decoding: PhaseStrip(phases, duration: duration).html(longest: longest).bytes, as: UTF8.self)
    }

    @Test func sidesAreDrawnInOrderOnALogarithmicLength() {
        // The logarithm of the duration is half of the longest one's.
        let strip = markup(["queue": 3, "first_byte": 15, "transfer": 12.622776601683793], 30.622776601683793)
        #expect(strip.contains(#"aria-label="client 3.00 ms, network 12.6 ms, server 15.0 ms""#))
        #expect(strip.contains(#"<rect class="rest" width="50%" height="10">"#))
        #expect(strip.contains(#"<rect class="p-ours" x="0%" y="0" width="4.9%" height="10" rx="0">"#))
        #expect(strip.contains(##"<rect class="p-way" fill="url(#hatch)" x="4.9%""##))
        #expect(strip.contains(#"<rect class="p-theirs" x="25.51%""#))
    }

    @Test func timeOutsideThePhasesStaysEmpty() {
        let strip = markup(["queue": 1], 999)
        #expect(strip.contains(#"width="0.1%""#))
        #expect(strip.contains(#"aria-label="client 1.00 ms, unknown 998 ms""#))
        #expect(markup([:], 5).contains(#"aria-label="unknown""#))
    }

    @Test(arguments: [.nan, .infinity, -.infinity, -1] as [Double])
    func nonsensicalPhaseDoesNotAffectTheOthers(time: Double) {
        #expect(
            markup(["queue": time, "tls": 1], 2).contains(
                ##"<rect class="p-way" fill="url(#hatch)" x="0%" y="0" width="7.95%""##))
    }

    @Test(arguments: [.nan, .infinity, -.infinity, -1, 0, 1e300] as [Double])
    func nonsensicalDurationStaysOutOfThePicture(value: Double) {
        for strip in [
            markup(["queue": value, "tls": 1], 5), markup(["queue": 1], value), markup(["queue": 1], 1, longest: value),
        ] {
            #expect(!strip.contains("nan") && !strip.contains("inf") && !strip.contains(#"="-"#))
        }
    }
}
