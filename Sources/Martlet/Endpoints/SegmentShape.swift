/// Whether a path segment names a thing (`users`) or is one of many values (`4711`).
enum SegmentShape {
    case name
    /// A short extension is kept apart from the value: `4711.json`.
    case value(extension: ArraySlice<UInt8>)

    /// A hexadecimal number shorter than this is taken for a word (`facade`, `beef`).
    static let shortestHexadecimal = 8
    /// A token shorter than this is taken for a word.
    static let shortestToken = 16

    init(of segment: ArraySlice<UInt8>) {
        if Self.isValue(segment) {
            self = .value(extension: [])
        } else if let dot = segment.lastIndex(of: UInt8(ascii: ".")), Self.isExtension(segment[dot...]),
            Self.isValue(segment[..<dot])
        {
            self = .value(extension: segment[dot...])
        } else {
            self = .name
        }
    }

    /// A dot and one to five letters.
    private static func isExtension(_ suffix: ArraySlice<UInt8>) -> Bool {
        (2...6).contains(suffix.count) && suffix.dropFirst().allSatisfy(\.isLetter)
    }

    /// Numbers, UUIDs, hexadecimal numbers and long random tokens.
    private static func isValue(_ segment: ArraySlice<UInt8>) -> Bool {
        var counts = Counts()
        for byte in segment { counts.add(byte) }
        return counts.isNumber || counts.isHexadecimal || counts.isToken
    }

    /// What one pass over a segment tells.
    private struct Counts {
        private var digits = 0
        private var hexadecimal = 0
        private var letters = 0
        private var separators = 0
        private var others = 0
        /// How often lower case, upper case and digits change places: rare in words, frequent in random text.
        private var changes = 0
        private var run = 0
        private var longestRun = 0
        private var previous = Kind.separator

        private enum Kind { case digit, lower, upper, separator, other }

        mutating func add(_ byte: UInt8) {
            let kind = Self.kind(of: byte)
            switch kind {
            case .digit: digits += 1
            case .lower, .upper: letters += 1
            case .separator: separators += 1
            case .other: others += 1
            }
            if byte.isHexadecimal { hexadecimal += 1 }
            let isAlphanumeric = kind != .separator && kind != .other
            if isAlphanumeric, run > 0, kind != previous { changes += 1 }
            run = isAlphanumeric ? run + 1 : 0
            longestRun = max(longestRun, run)
            previous = kind
        }

        /// `4711`, `2024-01-15`, `10.0`
        var isNumber: Bool { digits > 0 && letters == 0 && others == 0 }

        /// `507f1f77bcf86cd799439011`, `6f9619ff-8b86-d011-b42d-00c04fc964ff`
        var isHexadecimal: Bool {
            others == 0 && digits > 0 && hexadecimal == digits + letters
                && hexadecimal >= SegmentShape.shortestHexadecimal
        }

        /// `eyJhbGciOiJIUzI1NiJ9`, `V1StGXR8_Z5jdHi6B-myT`: long, some digits, and the kinds in more disorder than in
        /// `getUserProfileSettings2`.
        var isToken: Bool {
            let length = digits + letters
            return others == 0 && letters > 0 && length >= SegmentShape.shortestToken
                && longestRun >= SegmentShape.shortestHexadecimal && digits * 12 >= length && changes * 3 >= length
        }

        private static func kind(of byte: UInt8) -> Kind {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): .digit
            case UInt8(ascii: "a")...UInt8(ascii: "z"): .lower
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): .upper
            case UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: "="), UInt8(ascii: "~"):
                .separator
            default: .other
            }
        }
    }
}

extension UInt8 {
    fileprivate var isLetter: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20) }

    fileprivate var isHexadecimal: Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self)
            || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(self | 0x20)
    }
}
