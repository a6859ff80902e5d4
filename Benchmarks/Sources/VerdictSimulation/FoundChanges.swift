#if canImport(MartletReports)
import MartletReports
#endif

/// How many planted changes are found.
struct FoundChanges {
    let options: VerdictSimulation.Options
    static let worlds: [World] = [.independent, .correlated3, .correlated5, .correlated8]

    init(_ options: VerdictSimulation.Options) { self.options = options }

    private struct Case {
        var (minutes, rate, failures, durations) = (10, 30.0, 1.0, 1.0)
        /// The changed minutes; `nil` for all.
        var part: Range<Int>?

        var text: String {
            let change = failures != 1 ? "failures × \(number(failures))" : "durations × \(number(durations))"
            let place = part.map { " in minutes \($0.lowerBound) to \($0.upperBound)" } ?? ""
            return "\(minutes) min, \(Int(rate) * minutes) requests, \(change)\(place)"
        }
    }

    private static let cases =
        [
            (10, 30, 10, 1), (10, 30, 1, 2), (10, 30, 20, 1), (10, 30, 1, 3), (60, 200, 3, 1), (60, 200, 1, 1.2),
            (60, 30, 5, 1), (60, 30, 1, 1.3), (7, 125, 1, 11.5), (15, 58, 1, 11.5), (60, 15, 1, 11.5),
        ].map { Case(minutes: $0, rate: $1, failures: $2, durations: $3, part: nil) }
        + [56..<60, 52..<60, 45..<60, 35..<60, 20..<35].flatMap { part in
            [
                Case(minutes: 60, rate: 200, failures: 30, durations: 1, part: part),
                Case(minutes: 60, rate: 200, failures: 1, durations: 2, part: part),
            ]
        }

    func run() {
        let worlds = Self.worlds.filter(options.worlds.contains)
        var random = worlds.map { options.random(of: $0, table: 1) }
        printRow(["found, % (new rows)"] + worlds.map(\.rawValue))
        printRow(Array(repeating: "---", count: 1 + worlds.count))
        for one in Self.cases {
            printRow([one.text] + worlds.indices.map { found(one, in: worlds[$0], using: &random[$0]) })
        }
    }

    private func found(_ one: Case, in world: World, using random: inout RandomNumbers) -> String {
        let change = SimulatedRow.Change(
            failures: one.failures, durations: one.durations, minutes: one.part ?? 0..<one.minutes)
        let setting = Trial.Setting(world: world, length: one.minutes, rate: one.rate, share: 0.01, change: change)
        var (old, new) = (0, 0)
        for _ in 0..<options.rows {
            let trial = Trial(setting, using: &random)
            old += RowVerdict(trial.withPast()).answer == .worse ? 1 : 0
            new += RowVerdict(trial.asNew).answer == .worse ? 1 : 0
        }
        return "\(percent(old, of: options.rows)) (\(percent(new, of: options.rows)))"
    }
}

/// Rows that have lived for a few hours: false verdicts, and changes found. And rows in their first minutes.
struct YoungRows {
    let options: VerdictSimulation.Options

    init(_ options: VerdictSimulation.Options) { self.options = options }

    private static let hours = [3, 5, 10, 15]

    func run() {
        var random = RandomNumbers(seed: options.seed * 1000 + 300)
        printRow(["hours of past"] + Self.hours.map(String.init))
        printRow(Array(repeating: "---", count: 1 + Self.hours.count))
        for world in [World.jobs, .cron, .bursts, .strong] {
            for length in [10, 30, 60] {
                let setting = Trial.Setting(world: world, length: length)
                let trials = (0..<6 * options.rows).map { _ in Trial(setting, using: &random) }
                printRow(
                    ["\(world.rawValue), \(length) min: false"]
                        + Self.hours.map { hours in
                            let verdicts = trials.map { RowVerdict($0.withPast(hours: hours)) }
                            return "\(verdicts.count(where: \.isChanged)) of \(verdicts.count { !$0.isTooLittle })"
                        })
            }
        }
        for world in [World.independent, .correlated5, .correlated8] {
            for (failures, durations) in [(3.0, 1.0), (1, 1.2), (5, 1), (1, 1.5)] {
                let change = SimulatedRow.Change(failures: failures, durations: durations, minutes: 0..<60)
                let setting = Trial.Setting(world: world, length: 60, rate: 200, share: 0.01, change: change)
                let trials = (0..<options.rows).map { _ in Trial(setting, using: &random) }
                printRow(
                    [
                        "\(world.rawValue), 60 min, failures × \(number(failures)), "
                            + "durations × \(number(durations)): found"
                    ]
                        + Self.hours.map { hours in
                            percent(
                                trials.count { RowVerdict($0.withPast(hours: hours)).answer == .worse },
                                of: options.rows)
                        })
            }
        }
        firstMinutes(using: &random)
    }

    /// Rows that have lived for some minutes, without a window before.
    private func firstMinutes(using random: inout RandomNumbers) {
        printRow([
            "first minutes", "false of 1,000", "all fail after two good minutes, found in the third", "in the fourth",
        ])
        printRow(Array(repeating: "---", count: 4))
        for world in options.worlds {
            let minutes = [3, 4, 6, 10, 20, 60]
            let rows = (0..<20 * options.rows).map { _ in
                Trial(Trial.Setting(world: world, length: 60), using: &random).row
            }
            let wrong = rows.count { row in
                minutes.contains { Self.isFound(row, row.minutes - 60..<row.minutes - 60 + $0) }
            }
            let change = SimulatedRow.Change(failures: 1e6, durations: 1, minutes: 2..<4)
            let failing = (0..<options.rows).map { _ in
                Trial(
                    Trial.Setting(world: world, length: 4, rate: 60, share: 0.01, change: change), using: &random
                ).row
            }
            printRow(
                [world.rawValue, String(1000 * wrong / rows.count)]
                    + [3, 4].map { lived in
                        percent(
                            failing.count { Self.isFound($0, $0.minutes - 4..<$0.minutes - 4 + lived) },
                            of: failing.count)
                    })
        }
    }

    private static func isFound(_ row: SimulatedRow, _ minutes: Range<Int>) -> Bool {
        let counts = minutes.map { SignalCounts(row.failures[$0], of: row.requests[$0]) }
        return FirstMinutes(counts).pValue <= VerdictConstants.rowLevel
    }
}
