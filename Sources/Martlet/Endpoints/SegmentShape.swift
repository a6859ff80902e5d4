/// The shape of a path segment: a name of the interface (`users`), or one of many values (`4711`).
///
/// A doubtful segment is a value. The collector keeps a name for as long as its hourly data, and must not keep a secret
/// that long.
enum SegmentShape: Equatable {
    case name
    /// A value. Its suffix, a short extension (`4711.json`) or a method (`4711:cancel`), is kept apart from it.
    case value(suffix: ArraySlice<UInt8>)

    /// The length from which a hexadecimal number is a value. A shorter one may be a word (`facade`, `beef`).
    private static let shortestHexadecimal = 8
    /// The longest run of digits in a name. A longer run is a number, regardless of the text around it (`order12345`).
    private static let longestNumberInName = 4
    /// The shortest segment that can be told from random text. A shorter one is not tested (`k8s`, `xmlrpc`).
    private static let shortestRandom = 7

    init(of segment: ArraySlice<UInt8>) {
        let suffix = Self.method(of: segment) ?? Self.fileExtension(of: segment) ?? []
        self = Self.isName(segment.prefix(segment.count - suffix.count)) ? .name : .value(suffix: suffix)
    }

    /// Returns whether a segment is one of an interface's own names that begin with a sign: `@me` for the caller, or `$`
    /// and letters, such as OData's `$metadata` and `$batch`.
    private static func isWellKnown(_ segment: ArraySlice<UInt8>) -> Bool {
        segment.elementsEqual("@me".utf8)
            || segment.first == UInt8(ascii: "$") && segment.count > 1 && segment.dropFirst().allSatisfy(\.isLetter)
    }

    private static func isName(_ segment: ArraySlice<UInt8>) -> Bool {
        if isWellKnown(segment) { return true }
        var counts = Counts()
        for byte in segment { counts.add(byte) }
        return !counts.isValue && (segment.count < shortestRandom || !WordLikeness.isRandom(segment))
    }

    /// Returns a segment's extension, a dot and one to five letters; `nil` for none, and for a segment with other signs,
    /// such as a mail address.
    private static func fileExtension(of segment: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        guard let dot = segment.lastIndex(of: UInt8(ascii: ".")), dot > segment.startIndex,
            segment.allSatisfy({ $0.isDigit || $0.isLetter || $0.isSeparator })
        else { return nil }
        let suffix = segment[dot...]
        return (2...6).contains(suffix.count) && suffix.dropFirst().allSatisfy(\.isLetter) ? suffix : nil
    }

    /// Returns a segment's custom method (`messages:batchGet`, Google's AIP-136), its only colon and a verb in camel case;
    /// `nil` for none.
    private static func method(of segment: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        guard let colon = segment.firstIndex(of: UInt8(ascii: ":")), colon > segment.startIndex else { return nil }
        let verb = segment[(colon + 1)...]
        guard (3...40).contains(verb.count), verb.allSatisfy(\.isLetter), verb.first?.isLower == true,
            !WordLikeness.isRandom(verb)
        else { return nil }
        return segment[colon...]
    }

    /// The counts of a segment's characters by kind.
    private struct Counts {
        private var digits = 0
        private var hexadecimal = 0
        private var letters = 0
        private var hasLower = false
        private var hasHyphen = false
        private var hasSigns = false
        private var number = 0
        private var longestNumber = 0

        mutating func add(_ byte: UInt8) {
            number = byte.isDigit ? number + 1 : 0
            longestNumber = max(longestNumber, number)
            if byte.isDigit {
                digits += 1
            } else if byte.isLetter {
                letters += 1
                hasLower = hasLower || byte.isLower
            } else if !byte.isSeparator {
                hasSigns = true
            }
            if byte == UInt8(ascii: "-") { hasHyphen = true }
            if byte.isHexadecimal { hexadecimal += 1 }
        }

        var isValue: Bool {
            // Other signs belong to escapes, addresses, coordinates, lists and keys, and not to an interface's names.
            hasSigns
                // `4711`, `2024-01-15`, `10.0`
                || digits > 0 && letters == 0
                || longestNumber > SegmentShape.longestNumberInName
                // `PROJ-123`
                || digits > 0 && letters > 1 && !hasLower && hasHyphen
                // `507f1f77bcf86cd799439011`, `6f9619ff-8b86-d011-b42d-00c04fc964ff`
                || digits > 0 && hexadecimal == digits + letters && hexadecimal >= SegmentShape.shortestHexadecimal
        }
    }
}

extension UInt8 {
    fileprivate var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

    fileprivate var isLetter: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20) }

    fileprivate var isLower: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self) }

    fileprivate var isSeparator: Bool {
        self == UInt8(ascii: "-") || self == UInt8(ascii: "_") || self == UInt8(ascii: ".")
    }

    fileprivate var isHexadecimal: Bool { isDigit || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(self | 0x20) }
}
