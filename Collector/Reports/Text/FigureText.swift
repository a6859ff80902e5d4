import Foundation

/// Figures for a person to read. A figure in a column has no unit, because the column's title has it.
package enum FigureText {
    /// Returns a limit that people choose, or a value on an axis: without decimals from 1 on.
    package static func bound(_ value: Double) -> String {
        value >= 1 && value < 1e15 ? grouped(UInt64(value)) : figure(value)
    }

    /// Returns three digits or more: `0.778`, `9.61`, `88.5`, `1,614`. A value above 0 never reads as 0. An unknown value is a
    /// dash.
    package static func figure(_ value: Double) -> String {
        guard value.isFinite else { return "–" }
        switch value {
        case ...0: return "0"
        case ..<0.0005: return "<0.001"
        case ..<1: return fixed(value, 3)
        case ..<10: return fixed(value, 2)
        case ..<100: return fixed(value, 1)
        case ..<1e15: return grouped(UInt64(value.rounded()))
        default: return String(format: "%.0e", value)
        }
    }

    /// Returns two digits or more: `2.4`, `13`, `120`. Rounds up, because a smaller change may not be detected.
    static func rounded(_ value: Double) -> String {
        value < 10 ? fixed((value * 10).rounded(.up) / 10, 1) : grouped(UInt64(min(value, 1e15).rounded(.up)))
    }

    /// Returns a count with a comma between thousands.
    package static func grouped(_ count: UInt64) -> String {
        guard count >= 1000 else { return String(count) }
        let (thousands, rest) = count.quotientAndRemainder(dividingBy: 1000)
        // The 1 in front keeps the leading zeros.
        return grouped(thousands) + "," + String(1000 + rest).dropFirst()
    }

    /// Returns a count and a noun whose plural has an `s`: `1 span`, `1,614 requests`.
    package static func counted(_ count: some BinaryInteger, _ noun: String) -> String {
        "\(grouped(UInt64(clamping: count))) \(noun)\(count == 1 ? "" : "s")"
    }

    /// Returns a share in per cent, without the sign. Only a share of exactly 0 reads as 0.00, and only a share of exactly 1
    /// reads as 100.00.
    package static func percent(_ share: Double) -> String {
        switch fixed(share * 100, 2) {
        case "0.00" where share > 0: "<0.01"
        case "100.00" where share < 1: ">99.99"
        case let text: text
        }
    }

    package static func seconds(_ value: Double) -> String {
        switch value {
        case ..<120: fixed(value, 1) + " s"
        case ..<7200: fixed(value / 60, 1) + " min"
        default: fixed(value / 3600, 1) + " h"
        }
    }

    /// Returns a number of bytes in a unit with one to four digits before the decimal point: `84 MiB`, `1.4 GiB`.
    package static func bytes(_ value: Double) -> String {
        let units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"]
        var (rest, unit) = (max(value, 0), 0)
        while rest >= 1024, unit < units.count - 1 { (rest, unit) = (rest / 1024, unit + 1) }
        return fixed(rest, unit > 0 && rest < 9.95 ? 1 : 0) + " " + units[unit]
    }

    /// Returns a duration in its largest unit, and the next one unless `isShort`: `19 s`, `3 h 12 min`, `3 h`. From ten minutes
    /// on, seconds are left out.
    package static func age(_ seconds: UInt64, isShort: Bool = false) -> String {
        let units: [(String, UInt64)] = [("d", 86_400), ("h", 3600), ("min", 60), ("s", 1)]
        let first = units.firstIndex { seconds >= $0.1 } ?? 3
        var parts = ["\(seconds / units[first].1) \(units[first].0)"]
        if !isShort, first < 2 || (first == 2 && seconds < 600) {
            let (unit, length) = units[first + 1]
            let rest = seconds % units[first].1 / length
            if rest > 0 { parts.append("\(rest) \(unit)") }
        }
        return parts.joined(separator: " ")
    }

    /// Returns a share in per cent, rounded down, so that an incomplete share never reads as 100 %. For a share such as 0.57,
    /// the multiplication may return slightly less than the whole number.
    package static func completeness(_ share: Double) -> String {
        let hundredths = share < 1 ? min((share * 10_000).nextUp.rounded(.down), 9_999) : 10_000
        return fixed(hundredths / 100, 2) + " %"
    }

    /// Returns the same text as `printf`, ten times as fast: a table has tens of thousands of figures.
    package static func fixed(_ value: Double, _ digits: Int) -> String {
        let power = (0..<digits).reduce(1.0) { power, _ in power * 10 }
        let scaled = value * power
        guard value.sign == .plus, scaled < 0x1p53 else { return String(format: "%.\(digits)f", value) }
        var whole = scaled.rounded(.down)
        // On a tie, the rounding error of the multiplication decides. Without an error, the even number wins.
        let error = (-scaled).addingProduct(value, power)
        let isOdd = UInt64(whole) & 1 == 1
        if scaled - whole > 0.5 || (scaled - whole == 0.5 && (error > 0 || (error == 0 && isOdd))) { whole += 1 }
        let (integer, fraction) = UInt64(whole).quotientAndRemainder(dividingBy: UInt64(power))
        guard digits > 0 else { return String(integer) }
        // The 1 in front keeps the fraction's leading zeros.
        return "\(integer)." + String(UInt64(power) + fraction).dropFirst()
    }
}

extension StringProtocol {
    /// The text with a capital letter at its beginning.
    package var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}

/// A list of names in a sentence.
package enum NameList {
    /// Returns all names, or the first ones and the number of the others, such as `a, b and c` or `a, b and 7 more`; empty if
    /// there are none.
    ///
    /// - Parameter most: the most names in the text.
    package static func text(_ names: some Collection<String>, atMost most: Int = .max) -> String {
        let more = names.count - min(names.count, most)
        let last = more > 0 ? "\(FigureText.grouped(UInt64(more))) more" : nil
        let parts = names.prefix(most) + (last.map { [$0] } ?? [])
        guard parts.count > 1, let end = parts.last else { return parts.joined() }
        return parts.dropLast().joined(separator: ", ") + " and " + end
    }
}

/// A host in readable form. Some senders do not send the host of a request.
package enum HostName {
    package static func text(_ host: String) -> String { host.isEmpty ? "unknown host" : host }

    /// Returns the name followed by the called system, as in `db.internal:5432 (postgresql)`.
    ///
    /// - Parameter system: `nil` or empty for HTTP, which is not named.
    package static func text(_ host: String, system: String?) -> String {
        guard let system, !system.isEmpty else { return text(host) }
        return "\(text(host)) (\(system))"
    }
}

/// The name of an endpoint after its method. The name of a database's endpoint often begins with the operation.
package enum EndpointName {
    /// Returns the endpoint without the method that it begins with: `users` for `SELECT` and `SELECT users`.
    package static func text(_ endpoint: String, after method: String) -> String {
        guard !method.isEmpty, endpoint.prefix(method.count).uppercased() == method.uppercased() else {
            return endpoint
        }
        let rest = endpoint.dropFirst(method.count)
        return rest.isEmpty ? "" : rest.first == " " ? String(rest.dropFirst()) : endpoint
    }

    /// Returns the method and the endpoint, with the operation only once.
    package static func text(_ method: String, _ endpoint: String) -> String {
        [method, text(endpoint, after: method)].filter { !$0.isEmpty }.joined(separator: " ")
    }
}

/// A duration in milliseconds, the unit of reports.
enum Milliseconds {
    /// Converts seconds. A sender's bucket may extend past the largest Double, and JSON has no infinity.
    static func of(_ seconds: Double) -> Double {
        min(max(seconds * 1000, 0), .greatestFiniteMagnitude)
    }
}
