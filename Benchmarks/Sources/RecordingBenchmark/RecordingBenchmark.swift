import Foundation

/// Measures the cost of recording for the thread that finished a request, and the least possible cost for comparison: reserving
/// room in warm memory, copying 128 bytes, and storing a word that marks them as written.
@main
enum RecordingBenchmark {
    private static let operations = 5_000
    private static let rounds = 200

    static func main() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("martlet-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let recording = folder.appendingPathComponent("recording")
        try FileManager.default.createDirectory(at: recording, withIntermediateDirectories: true)
        var contenders: [any Contender] = [Floor(), try Recording(in: recording)]
        #if canImport(Prometheus)
        contenders.append(PrometheusHistogram())
        #endif
        contenders += [Sampled(isSent: false), Sampled(isSent: true)]
        for request in Slots.Request.allCases {
            contenders += [true, false].map { Slots(request, isKept: $0, in: folder) }
        }
        for threads in [1, 2] {
            var figures = contenders.map { _ in [Double]() }
            for round in 0...rounds {
                for (index, contender) in contenders.enumerated() {
                    contender.prepare()
                    let nanoseconds = Threads.run(threads) { contender.run(operations / threads) }
                    if round > 0 { figures[index].append(nanoseconds / Double(operations / threads)) }
                }
            }
            for (contender, figures) in zip(contenders, figures) {
                let sorted = figures.sorted()
                print(
                    "\(threads) thread\(threads == 1 ? " " : "s")  \(contender.name.padding(toLength: 52, withPad: " ", startingAt: 0))"
                        + String(
                            format: "%6.1f ns [%.1f, %.1f]", sorted[sorted.count / 2], sorted[sorted.count / 4],
                            sorted[sorted.count * 3 / 4]))
            }
        }
        try Recovery.measure(in: folder.appendingPathComponent("recovery"))
        try Sums.measure(in: folder.appendingPathComponent("sums"))
        try InFlight.measure()
    }
}

/// One way of recording.
protocol Contender: Sendable {
    var name: String { get }
    /// Prepares the next round. Its time is not measured.
    func prepare()
    func run(_ operations: Int)
}
