import Foundation
import MartletReports
import MartletTelemetry

/// A request's time as a strip of its sides. Its length is the logarithm of the duration, so that short requests are seen beside
/// long ones. Time that no phase tells of stays empty.
struct PhaseStrip {
    private static let height = 10.0

    private let duration: Double
    private let times: [(side: PhaseSide, time: Double)]

    /// - Parameters:
    ///   - phases: milliseconds by ``RequestPhase``.
    ///   - duration: milliseconds.
    init(_ phases: [String: Double], duration: Double) {
        self.duration = duration.isFinite ? max(0, duration) : 0
        let known = phases.compactMap { name, time in
            RequestPhase(rawValue: name).map { (PhaseSide($0), time.isFinite ? max(0, time) : 0) }
        }
        times = PhaseSide.allCases.compactMap { side in
            let time = known.filter { $0.0 == side }.reduce(0) { $0 + $1.1 }
            return time > 0 ? (side, time) : nil
        }
    }

    /// - Parameter longest: the duration that is as long as the picture is wide, in milliseconds.
    func html(longest: Double) -> HTML {
        let width = length(longest: longest)
        return SVG.wide("phases", height: Self.height, .role("img"), .label(label)) {
            SVG.rect("rest", width: width, height: Self.height)
            bars(width: width)
        }
    }

    private func bars(width: Double) -> [HTML] {
        let whole = max(duration, times.reduce(0) { $0 + $1.time })
        var end = 0.0
        return times.map { side, time in
            defer { end += time }
            return SideShape.bar(
                side, x: end / whole * width, width: time / whole * width, height: Self.height)
        }
    }

    private func length(longest: Double) -> Double {
        guard longest.isFinite, longest > 0 else { return 0 }
        return min(1, log(1 + duration) / log(1 + longest))
    }

    private var label: String {
        let known = times.map { "\(SideShape.name(of: $0.side)) \(FigureText.figure($0.time)) ms" }
        let rest = duration - times.reduce(0) { $0 + $1.time }
        guard !known.isEmpty else { return "not told" }
        return (known + (rest > duration / 100 ? ["not told \(FigureText.figure(rest)) ms"] : [])).joined(
            separator: ", ")
    }
}
