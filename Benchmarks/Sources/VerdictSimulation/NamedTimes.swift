#if canImport(MartletReports)
import MartletReports
#endif

/// How often the time of a change is right.
struct NamedTimes {
    let options: VerdictSimulation.Options

    init(_ options: VerdictSimulation.Options) { self.options = options }

    func run() {
        printRow([
            "minutes", "change", "requests per minute", "world", "there all the time: a false time, %", "none, %",
            "a third later: named, %", "of these within a minute, %", "range right, %", "falsely all the time, %",
        ])
        printRow(Array(repeating: "---", count: 10))
        var random = RandomNumbers(seed: options.seed * 1000 + 103)
        for length in [10, 30, 60] {
            for (failures, durations) in [(10.0, 1.0), (1, 2)] {
                for rate in [30.0, 300] {
                    for world in FoundChanges.worlds + [.strong] {
                        let name = failures > 1 ? "failures × 10" : "durations × 2"
                        func onsets(_ since: Int) -> [ChangeOnset] {
                            let change = SimulatedRow.Change(
                                failures: failures, durations: durations, minutes: since..<length)
                            let setting = Trial.Setting(
                                world: world, length: length, rate: rate, share: 0.01, change: change)
                            return (0..<options.rows).compactMap { _ in
                                Self.onset(Trial(setting, using: &random), isFailing: failures > 1)
                            }
                        }
                        printRow(
                            ["\(length)", name, "\(Int(rate))", world.rawValue] + allTheTime(onsets(0), length)
                                + later(onsets(length / 3), length / 3, length))
                    }
                }
            }
        }
    }

    private static func onset(_ trial: Trial, isFailing: Bool) -> ChangeOnset? {
        let windows = trial.withPast(isByMinute: true)
        let signal = isFailing ? .failures : windows.mostChanged(RequestSignal.allCases.filter { $0 != .failures })
        return windows.onset(signal, .worse)
    }

    private func allTheTime(_ onsets: [ChangeOnset], _ length: Int) -> [String] {
        [
            percent(onsets.count { $0.slots != 0..<length }, of: onsets.count, digits: 1),
            percent(onsets.count { !$0.isClear }, of: onsets.count),
        ]
    }

    private func later(_ onsets: [ChangeOnset], _ since: Int, _ length: Int) -> [String] {
        let named = onsets.filter { !$0.isFromStart }
        return [
            percent(named.count, of: options.rows),
            percent(named.count { abs($0.slots.lowerBound - since) <= 1 }, of: named.count),
            percent(
                named.count { $0.beginnings.lowerBound - 1 <= since && since <= $0.beginnings.upperBound + 1 },
                of: named.count),
            percent(onsets.count { $0.slots == 0..<length && $0.isClear }, of: options.rows),
        ]
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
        var random = RandomNumbers(seed: options.seed * 1000 + 104)
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
