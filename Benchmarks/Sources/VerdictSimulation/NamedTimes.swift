#if canImport(MartletReports)
import MartletReports
#endif

/// How often the time of a change is right, in per cent of 100 rows. Each cell is a range over the worlds.
struct NamedTimes {
    let options: VerdictSimulation.Options

    init(_ options: VerdictSimulation.Options) { self.options = options }

    private struct Case {
        var length: Int
        /// Requests per minute.
        var rate: Double
        /// Whether failures are ten times as many; otherwise durations are twice as long.
        var isFailing: Bool

        var text: String {
            "\(length) min, \(Int(rate)) requests a minute, \(isFailing ? "failures × 10" : "durations × 2")"
        }

        func setting(_ world: World, since: Int) -> Trial.Setting {
            let change = SimulatedRow.Change(
                failures: isFailing ? 10 : 1, durations: isFailing ? 1 : 2, minutes: since..<length)
            return Trial.Setting(world: world, length: length, rate: rate, share: 0.01, change: change)
        }
    }

    private static let cases = [10, 30, 60].flatMap { length in
        [true, false].flatMap { isFailing in
            [30.0, 300].map { Case(length: length, rate: $0, isFailing: isFailing) }
        }
    }

    private static let columns = [
        "there all the time: a false time", "no time", "a third later: named", "of these to the minute",
        "of which within a minute", "range right", "falsely all the time",
    ]

    /// The fewest rows of a share. In fewer, one row would be too many per cent.
    private static let minRows = 20

    func run() {
        let worlds = (FoundChanges.worlds + [.strong]).filter(options.worlds.contains)
        var random = worlds.map { options.random(of: $0, table: 2) }
        printRow(["%, range over worlds"] + Self.columns)
        printRow(Array(repeating: "---", count: 1 + Self.columns.count))
        for one in Self.cases {
            let shares = worlds.indices.map { self.shares(one, in: worlds[$0], using: &random[$0]) }
            printRow(
                [one.text]
                    + Self.columns.indices.map { column in Self.range(shares.compactMap { $0[column] }) })
        }
    }

    /// Returns the figure of each column; `nil` if too few rows have one.
    private func shares(_ one: Case, in world: World, using random: inout RandomNumbers) -> [Double?] {
        let (whole, since) = (0..<one.length, one.length / 3)
        let allTheTime = onsets(one, in: world, since: 0, using: &random)
        let later = onsets(one, in: world, since: since, using: &random)
        let named = later.filter { !$0.isFromStart }
        let toTheMinute = named.filter { $0.beginnings.upperBound - $0.beginnings.lowerBound <= 1 }
        return [
            Self.share(allTheTime.count { $0.slots != whole }, of: allTheTime.count),
            Self.share(allTheTime.count { !$0.isClear }, of: allTheTime.count),
            Self.share(named.count, of: options.rows),
            Self.share(toTheMinute.count, of: named.count),
            Self.share(toTheMinute.count { abs($0.slots.lowerBound - since) <= 1 }, of: toTheMinute.count),
            Self.share(
                named.count { $0.beginnings.lowerBound - 1 <= since && since <= $0.beginnings.upperBound + 1 },
                of: named.count),
            Self.share(later.count { $0.slots == whole && $0.isClear }, of: options.rows),
        ]
    }

    private func onsets(
        _ one: Case, in world: World, since: Int, using random: inout RandomNumbers
    ) -> [ChangeOnset] {
        (0..<options.rows).compactMap { _ in
            let windows = Trial(one.setting(world, since: since), using: &random).withPast(isByMinute: true)
            let signal =
                one.isFailing ? .failures : windows.mostChanged(RequestSignal.allCases.filter { $0 != .failures })
            return windows.onset(signal, .worse)
        }
    }

    private static func share(_ count: Int, of all: Int) -> Double? {
        all < minRows ? nil : 100 * Double(count) / Double(all)
    }

    private static func range(_ shares: [Double]) -> String {
        guard let least = shares.min(), let most = shares.max() else { return "–" }
        let (from, to) = (least.rounded(), most.rounded())
        return from == to ? number(from) : "\(number(from)) to \(number(to))"
    }
}

/// A page that is reloaded each minute over a planted fault: verdicts that go away while the window still has its beginning.
struct Flaps {
    let options: VerdictSimulation.Options

    init(_ options: VerdictSimulation.Options) { self.options = options }

    func run() {
        printRow([
            "minutes", "change", "world", "found, %", "median minutes", "flaps of 100 without state", "with state",
        ])
        printRow(Array(repeating: "---", count: 7))
        var random = RandomNumbers(seed: options.seed * 1000 + 400)
        for (length, rate) in [(10, 30.0), (15, 30), (60, 30)] {
            for (failures, durations) in [(10.0, 1.0), (1, 2)] {
                for world in [World.independent, .correlated5, .correlated8] {
                    let change = SimulatedRow.Change(
                        failures: failures, durations: durations, minutes: length - 1..<2 * length)
                    let setting = Trial.Setting(
                        world: world, length: length, rate: rate, share: 0.01, change: change, after: length - 1)
                    let runs = (0..<options.rows).map { _ in Self.watched(Trial(setting, using: &random)) }
                    let found = runs.compactMap { $0.held.firstIndex(of: true) }.sorted()
                    printRow([
                        "\(length)", failures > 1 ? "failures × 10" : "durations × 2", world.rawValue,
                        percent(found.count, of: runs.count),
                        found.isEmpty ? "–" : "\(found[found.count / 2] + 1)",
                        percent(runs.count { Self.isLost($0.plain) }, of: runs.count, digits: 1),
                        percent(runs.count { Self.isLost($0.held) }, of: runs.count, digits: 1),
                    ])
                }
            }
        }
    }

    private static func isLost(_ isWorse: [Bool]) -> Bool { zip(isWorse, isWorse.dropFirst()).contains { $0 && !$1 } }

    private static func watched(_ trial: Trial) -> (plain: [Bool], held: [Bool]) {
        var (plain, held) = ([Bool](), [Bool]())
        var noise: [Int: RowNoise] = [:]
        for minute in 0...trial.after {
            let hour = (trial.start + minute) / 60
            let windows = trial.withPast(minutesLater: minute, noise: noise[hour])
            noise[hour] = windows.noise
            let verdict = RowVerdict(windows)
            plain.append(verdict.answer == .worse)
            held.append(windows.isWorse(verdict))
        }
        return (plain, held)
    }
}
