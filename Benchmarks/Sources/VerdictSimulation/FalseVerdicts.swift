#if canImport(MartletReports)
import MartletReports
#endif

/// How many reports of 50 unchanged rows name a row, in per cent; in brackets how many rows have too little data.
struct FalseVerdicts {
    let options: VerdictSimulation.Options

    init(_ options: VerdictSimulation.Options) { self.options = options }

    private static let rows = 50
    private static let (lengths, day) = ([10, 15, 30, 60], 1440)

    private struct Cell {
        private var (tooLittle, reports) = (0, 0)

        mutating func add(_ verdicts: [RowVerdict]) {
            tooLittle += verdicts.count(where: \.isTooLittle)
            reports += verdicts.contains(where: \.isChanged) ? 1 : 0
        }

        func text(_ all: Int) -> String {
            percent(reports, of: all, digits: 1)
                + (tooLittle > 0 ? " (\(percent(tooLittle, of: all * rows, digits: 1)))" : "")
        }
    }

    func run() {
        printRow(
            ["reports with a false row, % (not enough data, % of rows)"] + Self.lengths.map { "\($0) min" }
                + Self.lengths.map { "new: \($0) min" } + ["a day"])
        printRow(Array(repeating: "---", count: 2 + 2 * Self.lengths.count))
        for world in options.worlds { run(world) }
    }

    private func run(_ world: World) {
        var random = options.random(of: world, table: 0)
        var (old, new) = ([Int: Cell](), [Int: Cell]())
        for _ in 0..<options.reports {
            let rows = (0..<Self.rows).map { _ in
                Trial(Trial.Setting(world: world, length: 80), using: &random).row
            }
            for length in Self.lengths + [Self.day] {
                let trials = rows.map { Trial($0, length: length) }
                if length < Self.day {
                    old[length, default: Cell()].add(trials.map { RowVerdict($0.withPast()) })
                }
                new[length, default: Cell()].add(trials.map { RowVerdict($0.asNew) })
            }
        }
        let cells = Self.lengths.map { old[$0] } + (Self.lengths + [Self.day]).map { new[$0] }
        printRow([world.title] + cells.map { $0?.text(options.reports) ?? "–" })
    }
}
