/// Whether a path segment names a thing (`users`) or is one of many values (`4711`).
///
/// In doubt a segment is a value: what is taken for a name stays for as long as the collector keeps its hours, and a secret
/// must not.
enum SegmentShape: Equatable {
    case name
    /// A short extension (`4711.json`) or a method (`4711:cancel`) is kept apart from the value.
    case value(suffix: ArraySlice<UInt8>)

    /// A hexadecimal number shorter than this is taken for a word (`facade`, `beef`).
    private static let shortestHexadecimal = 8
    /// More digits behind one another are a number, whatever is around them (`order12345`).
    private static let longestNumberInName = 4
    /// A shorter segment says too little to be told from random text (`k8s`, `xmlrpc`).
    private static let shortestRandom = 7

    init(of segment: ArraySlice<UInt8>) {
        let suffix = Self.method(of: segment) ?? Self.fileExtension(of: segment) ?? []
        self = Self.isName(segment.prefix(segment.count - suffix.count)) ? .name : .value(suffix: suffix)
    }

    /// Things of an interface's own that begin with a sign: the caller, and OData's `$metadata` and `$batch`.
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

    /// A dot and one to five letters, behind something that is not an address.
    private static func fileExtension(of segment: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        guard let dot = segment.lastIndex(of: UInt8(ascii: ".")), dot > segment.startIndex,
            segment.allSatisfy({ $0.isDigit || $0.isLetter || $0.isSeparator })
        else { return nil }
        let suffix = segment[dot...]
        return (2...6).contains(suffix.count) && suffix.dropFirst().allSatisfy(\.isLetter) ? suffix : nil
    }

    /// A custom method (`messages:batchGet`, Google's AIP-136): the one colon and a verb in camel case.
    private static func method(of segment: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        guard let colon = segment.firstIndex(of: UInt8(ascii: ":")), colon > segment.startIndex else { return nil }
        let verb = segment[(colon + 1)...]
        guard (3...40).contains(verb.count), verb.allSatisfy(\.isLetter), verb.first?.isLower == true,
            !WordLikeness.isRandom(verb)
        else { return nil }
        return segment[colon...]
    }

    /// The characters of a segment.
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
            // Escapes, addresses, coordinates, lists, keys: somebody's words, none of the interface's.
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
