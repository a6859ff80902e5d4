#if canImport(MartletReports)
import MartletReports
#endif

/// How many reports of 50 unchanged rows name a row.
struct FalseVerdicts {
    let options: VerdictSimulation.Options

    init(_ options: VerdictSimulation.Options) { self.options = options }

    private static let rows = 50
    private static let (lengths, day) = ([10, 15, 30, 60], 1440)

    private struct Cell {
        var (tooLittle, changed, reports) = (0, 0, 0)

        mutating func add(_ verdicts: [RowVerdict]) {
            tooLittle += verdicts.count(where: \.isTooLittle)
            let found = verdicts.count(where: \.isChanged)
            (changed, reports) = (changed + found, reports + (found > 0 ? 1 : 0))
        }

        func texts(_ all: Int) -> [String] {
            [
                percent(tooLittle, of: all * rows), "\(changed) of \(all * rows - tooLittle)",
                percent(reports, of: all, digits: 1),
            ]
        }
    }

    func run() {
        printRow([
            "world", "minutes", "too little, % of rows", "false rows", "reports with one, %", "new rows: too little",
            "false", "reports",
        ])
        printRow(Array(repeating: "---", count: 8))
        for world in options.worlds { run(world) }
    }

    private func run(_ world: World) {
        var random = RandomNumbers(seed: options.seed * 1000 + UInt64(World.allCases.firstIndex(of: world) ?? 0))
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
        for length in Self.lengths + [Self.day] {
            let past = old[length]?.texts(options.reports) ?? ["–", "–", "–"]
            printRow([world.rawValue, "\(length)"] + past + (new[length]?.texts(options.reports) ?? []))
        }
    }
}
