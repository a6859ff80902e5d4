/// A path template given by the user: `/users/{id}/orders/*`.
///
/// `{name}`, `:name` and `*` match one segment. `*` or `**` at the end matches one or more remaining segments, so that routes of
/// Hummingbird and Vapor can be copied. The endpoint's name is the template with each `:name` as `{name}`.
struct EndpointTemplate: Sendable {
    let name: String
    private let segments: [Segment]

    private enum Segment: Equatable, Sendable {
        case literal([UInt8])
        case any
        case rest

        var isEmpty: Bool { self == .literal([]) }
    }

    /// Why a text is not a template, such as "has a query".
    struct Mistake: Error, Equatable {
        let reason: String

        init(_ reason: String) { self.reason = reason }
    }

    /// Parses a template; `nil` for a text that can match no path.
    init?(_ text: String) {
        guard let template = try? Self(reading: text) else { return nil }
        self = template
    }

    /// - Throws: why the text can match no path.
    init(reading text: String) throws(Mistake) {
        if let mistake = Self.mistake(in: text) { throw mistake }
        let parts = text.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
            .map { $0.hasPrefix(":") ? "{\($0.dropFirst())}" : String($0) }
        var segments: [Segment] = []
        for (index, part) in parts.enumerated() {
            segments.append(try Self.segment(part, isLast: index == parts.count - 1))
        }
        name = "/" + parts.joined(separator: "/")
        self.segments = segments
    }

    /// - Parameter earlier: the templates that are tried before.
    /// - Throws: why the template can never name an endpoint.
    init(reading text: String, after earlier: [EndpointTemplate]) throws(Mistake) {
        try self.init(reading: text)
        guard let first = earlier.first(where: { $0.covers(self) }) else { return }
        throw Mistake("comes after \(first.name), which matches the same paths")
    }

    private static func mistake(in text: String) -> Mistake? {
        if !text.hasPrefix("/") {
            return Mistake(text.contains("://") ? "has a scheme" : "does not begin with a slash")
        }
        if text.contains("?") { return Mistake("has a query") }
        if text.contains("#") { return Mistake("has a fragment") }
        if !text.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7f }) { return Mistake("has a blank or a control character") }
        return nil
    }

    private static func segment(_ text: String, isLast: Bool) throws(Mistake) -> Segment {
        switch text {
        case "" where !isLast: throw Mistake("has an empty segment")
        case "**" where !isLast: throw Mistake("has ** before its end")
        case "**": return .rest
        case "*": return isLast ? .rest : .any
        default: break
        }
        if text.contains("*") { throw Mistake("has a * within a segment") }
        let isParameter = text.hasPrefix("{") && text.hasSuffix("}")
        if (isParameter ? text.dropFirst().dropLast() : text[...]).contains(where: \.isBrace) {
            throw Mistake("has a brace within a segment")
        }
        return isParameter ? .any : .literal(Array(text.utf8))
    }

    func matches(_ path: [ArraySlice<UInt8>]) -> Bool {
        var index = 0
        for segment in segments {
            guard index < path.count else { return false }
            switch segment {
            case .rest: return !path[index].isEmpty
            case .any where path[index].isEmpty: return false
            case .literal(let bytes) where path[index] != bytes[...]: return false
            case .any, .literal: index += 1
            }
        }
        return index == path.count
    }

    /// Returns whether this template matches every path that another one matches.
    func covers(_ other: EndpointTemplate) -> Bool {
        for (index, segment) in segments.enumerated() {
            guard index < other.segments.count else { return false }
            let its = other.segments[index]
            switch segment {
            case .rest: return !its.isEmpty
            case .any where its.isEmpty || its == .rest: return false
            case .literal where its != segment: return false
            case .any, .literal: continue
            }
        }
        return segments.count == other.segments.count
    }
}

extension Character {
    fileprivate var isBrace: Bool { self == "{" || self == "}" }
}

/// A pattern on bytes in which `*` matches any run of bytes, including an empty one.
struct Glob: Sendable, Equatable {
    private let pattern: [UInt8]

    private static let star = UInt8(ascii: "*")

    init(_ text: some StringProtocol) {
        pattern = Array(text.utf8)
    }

    /// Takes linear time for each star: after a mismatch it retries only the last star, one byte further.
    func matches(_ text: String) -> Bool {
        let text = Array(text.utf8)
        var (p, t) = (0, 0)
        var retry: (p: Int, t: Int)?
        while t < text.count {
            if p < pattern.count, pattern[p] == Self.star {
                p += 1
                retry = (p, t)
            } else if p < pattern.count, pattern[p] == text[t] {
                p += 1
                t += 1
            } else if let last = retry {
                p = last.p
                t = last.t + 1
                retry = (p, t)
            } else {
                return false
            }
        }
        return pattern[p...].allSatisfy { $0 == Self.star }
    }
}
