/// A path template of the user's: `/users/{id}/orders/*`.
///
/// `{name}` and `*` match one segment, and a `*` at the end matches all remaining segments (at least one). The endpoint's
/// name is the template as it was written.
struct EndpointTemplate: Sendable {
    let name: String
    private let segments: [Segment]

    private enum Segment: Sendable {
        case literal([UInt8])
        case any
        case rest
    }

    /// Parses a template; `nil` unless the text starts with a slash, has no query, fragment or control character, and every
    /// brace stands around a whole segment.
    init?(_ text: String) {
        guard text.hasPrefix("/"), text.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7f }),
            !text.contains("?"), !text.contains("#")
        else { return nil }
        let parts = text.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        var segments: [Segment] = []
        for (index, part) in parts.enumerated() {
            if part == "*" {
                segments.append(index == parts.count - 1 ? .rest : .any)
            } else if part.hasPrefix("{"), part.hasSuffix("}"), !part.dropFirst().dropLast().contains(where: \.isBrace)
            {
                segments.append(.any)
            } else if part.contains(where: \.isBrace) {
                return nil
            } else {
                segments.append(.literal(Array(part.utf8)))
            }
        }
        self.name = text
        self.segments = segments
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
}

extension Character {
    fileprivate var isBrace: Bool { self == "{" || self == "}" }
}
