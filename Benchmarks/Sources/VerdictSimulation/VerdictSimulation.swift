import Foundation

#if canImport(MartletReports)
import MartletReports
#endif

/// Prints how often verdicts are right, in worlds whose truth is known: the tables of docs/internals/comparison.md.
///
///     VerdictSimulation [--reports N] [--rows N] [--seed N] [--tables false,found,times,flaps,young] [--worlds A,B]
@main struct VerdictSimulation {
    static func main() {
        let options = Options(CommandLine.arguments)
        for table in options.tables {
            switch table {
            case "false": FalseVerdicts(options).run()
            case "found": FoundChanges(options).run()
            case "times": NamedTimes(options).run()
            case "flaps": Flaps(options).run()
            case "young": YoungRows(options).run()
            default: print("unknown table: \(table)")
            }
        }
    }

    struct Options {
        var reports = 200
        /// The rows of each cell of the tables other than that of false verdicts.
        var rows = 100
        var seed: UInt64 = 1
        var tables = ["false", "found", "times", "flaps", "young"]
        var worlds = World.allCases

        init(_ arguments: [String]) {
            for (name, value) in zip(arguments.dropFirst(), arguments.dropFirst(2)) {
                switch name {
                case "--reports": reports = Int(value) ?? reports
                case "--rows": rows = Int(value) ?? rows
                case "--seed": seed = UInt64(value) ?? seed
                case "--tables": tables = value.split(separator: ",").map(String.init)
                case "--worlds":
                    worlds = value.split(separator: ",").compactMap { World(rawValue: String($0)) }
                default: break
                }
            }
        }

        /// Returns the random numbers of a world in a table. They are the same whichever other worlds are simulated.
        func random(of world: World, table: Int) -> RandomNumbers {
            RandomNumbers(seed: seed * 1000 + UInt64(100 * table + (World.allCases.firstIndex(of: world) ?? 0)))
        }
    }
}

/// Prints a line of a table at once, so that a long run shows its progress.
func printRow(_ cells: [String]) {
    print("| " + cells.joined(separator: " | ") + " |")
    fflush(nil)
}

func percent(_ count: Int, of all: Int, digits: Int = 0) -> String {
    all == 0 ? "–" : String(format: "%.\(digits)f", 100 * Double(count) / Double(all))
}

/// Returns a number without zeros after the point: `10`, `1.2`.
func number(_ value: Double) -> String { String(format: "%g", value) }

extension RowVerdict {
    var isChanged: Bool { answer == .worse || answer == .better }

    var isTooLittle: Bool { if case .tooLittleData = answer { true } else { false } }
}
