/// The shape of a path segment: a fixed name of the interface (`users`), or a value that varies (`4711`).
///
/// When in doubt, a segment is a value. The collector keeps a name for as long as its hourly data, and must not keep a
/// secret that long.
enum SegmentShape: Equatable {
    case name
    /// A value. Its suffix is kept separately: a short extension (`4711.json`) or a method (`4711:cancel`).
    case value(suffix: ArraySlice<UInt8>)

    /// The shortest segment that is tested for random text. A shorter one is not tested (`vpcs`, `xmlrpc`).
    private static let shortestRandom = 7
    /// The shortest segment that is tested for random text if it has capitals behind its first character.
    private static let shortestRandomOfBothCases = 4

    init(of segment: ArraySlice<UInt8>) {
        let suffix = Self.suffix(of: segment)
        self = Self.isName(segment.prefix(segment.count - suffix.count)) ? .name : .value(suffix: suffix)
    }

    /// Returns the part of a segment that stays if the rest is a value; empty for none.
    static func suffix(of segment: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        method(of: segment) ?? fileExtension(of: segment) ?? []
    }

    /// Returns whether a segment is one of the known names that begin with a symbol: `@me` for the caller, or `$` and
    /// letters, such as OData's `$metadata` and `$batch`.
    private static func isWellKnown(_ segment: ArraySlice<UInt8>) -> Bool {
        segment.elementsEqual("@me".utf8)
            || segment.first == UInt8(ascii: "$") && segment.count > 1
                && segment.dropFirst().allSatisfy(\.isASCIILetter)
    }

    private static func isName(_ segment: ArraySlice<UInt8>) -> Bool {
        if isWellKnown(segment) { return true }
        var counts = Counts()
        for byte in segment { counts.add(byte) }
        guard !counts.isValue, !counts.hasDigits || NumberedName.isName(segment) else { return false }
        let rest = counts.hasDigits ? segment.dropFirst(NumberedName.version(of: segment).count) : segment
        let isOfBothCases = counts.hasLower && rest.dropFirst().contains { $0.isASCIILetter && !$0.isLower }
        return rest.count < (isOfBothCases ? shortestRandomOfBothCases : shortestRandom)
            || !RandomTextDetector.isRandom(rest)
    }

    /// Returns a segment's extension: a dot and one to five letters. `nil` if there is none, or if the segment has
    /// other symbols, as a mail address does.
    private static func fileExtension(of segment: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        guard let dot = segment.lastIndex(of: UInt8(ascii: ".")), dot > segment.startIndex,
            segment.allSatisfy({ $0.isASCIIDigit || $0.isASCIILetter || $0.isSeparator })
        else { return nil }
        let suffix = segment[dot...]
        return (2...6).contains(suffix.count) && suffix.dropFirst().allSatisfy(\.isASCIILetter) ? suffix : nil
    }

    /// Returns a segment's custom method (`messages:batchGet`, Google's AIP-136): its only colon and a verb in camel
    /// case. `nil` for none.
    private static func method(of segment: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        guard let colon = segment.firstIndex(of: UInt8(ascii: ":")), colon > segment.startIndex else { return nil }
        let verb = segment[(colon + 1)...]
        guard (3...40).contains(verb.count), verb.allSatisfy(\.isASCIILetter), verb.first?.isLower == true,
            !RandomTextDetector.isRandom(verb)
        else { return nil }
        return segment[colon...]
    }

    /// The counts of a segment's characters by kind.
    private struct Counts {
        private var letters = 0
        private(set) var hasDigits = false
        private(set) var hasLower = false
        private var hasHyphen = false
        private var hasSigns = false

        mutating func add(_ byte: UInt8) {
            if byte.isASCIIDigit {
                hasDigits = true
            } else if byte.isASCIILetter {
                letters += 1
                hasLower = hasLower || byte.isLower
            } else if !byte.isSeparator {
                hasSigns = true
            }
            if byte == UInt8(ascii: "-") { hasHyphen = true }
        }

        var isValue: Bool {
            // Other symbols occur in escapes, addresses, coordinates, lists and keys, but not in names of an interface.
            hasSigns
                // `4711`, `2024-01-15`, `10.0`
                || hasDigits && letters == 0
                // `ENG-7`
                || hasDigits && letters > 1 && !hasLower && hasHyphen
        }
    }
}

/// The kinds of characters in a segment.
extension UInt8 {
    var isLower: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self) }

    var isSeparator: Bool {
        self == UInt8(ascii: "-") || self == UInt8(ascii: "_") || self == UInt8(ascii: ".")
    }
}

/// Distinguishes words from random text. It compares two explanations of a segment's letters and digits: words in
/// sequence (`getUserProfile2`), and characters drawn at random from an alphabet. The cost of an explanation is its
/// surprise, in quarter bits.
///
/// The weights were chosen so that fewer than 1 in 1,000 of 63,849 English words are taken for random, if they are
/// joined by hyphens, underscores or capitals or followed by a version. Fewer than 1 in 1,000 random texts of 16 to 200
/// characters are taken for words (`SegmentShapeTests`).
struct RandomTextDetector {
    /// The margin by which the random explanation must be cheaper, in quarter bits. A short text has little surprise
    /// either way. When in doubt, a text counts as words.
    private static func margin(_ count: Int) -> Int { min(30, max(20, count + 13)) }

    // The surprise of the next character's kind in a text of words, without that of the letter or digit itself.
    private static let capitalInside = 26
    private static let capitalBehindCapital = 22
    private static let letterBehindDigit = 28
    private static let digitBehindLetter = 20
    private static let digitFirst = 8
    private static let separator = 18
    private static let acronym = 26
    // The surprise of the letter or digit itself.
    private static let firstLetter = 17
    private static let digit = 14

    private enum Kind { case start, digit, lower, upper }

    private var previous = Kind.start
    private var previousLetter = 0
    /// The cost as words in camel case, and the cost with capitals read as lower case, for segments without lower-case
    /// letters.
    private var costOfWords = 0
    private var costOfCapitals = 0
    private var digits = 0
    private var lower = 0
    private var upper = 0
    private var separators = 0
    private var isHexadecimal = true

    /// - Parameter segment: ASCII letters and digits; any other byte separates words.
    static func isRandom(_ segment: ArraySlice<UInt8>) -> Bool {
        var likeness = RandomTextDetector()
        var rest = segment
        while let byte = rest.first {
            if let length = Acronyms.length(of: rest) {
                likeness.addAcronym(rest.prefix(length))
                rest = rest.dropFirst(length)
            } else {
                likeness.add(byte)
                rest = rest.dropFirst()
            }
        }
        let asWords = likeness.lower == 0 ? likeness.costOfCapitals : likeness.costOfWords
        return asWords > likeness.costOfRandom + margin(segment.count)
    }

    private mutating func add(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): addDigit()
        case UInt8(ascii: "a")...UInt8(ascii: "z"): add(letter: Int(byte - UInt8(ascii: "a")), .lower)
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): add(letter: Int(byte - UInt8(ascii: "A")), .upper)
        default:
            separators += 1
            add(Self.separator)
            previous = .start
        }
    }

    private mutating func addAcronym(_ letters: ArraySlice<UInt8>) {
        for letter in letters {
            if letter.isLower { lower += 1 } else { upper += 1 }
        }
        add(Self.acronym)
        (previous, isHexadecimal) = (.start, false)
    }

    private mutating func addDigit() {
        digits += 1
        switch previous {
        case .digit: add(Self.digit)
        case .start: add(Self.digit + Self.digitFirst)
        case .lower, .upper: add(Self.digit + Self.digitBehindLetter)
        }
        previous = .digit
    }

    private mutating func add(letter: Int, _ kind: Kind) {
        if kind == .lower { lower += 1 } else { upper += 1 }
        if letter > 5 { isHexadecimal = false }
        switch previous {
        case .start: add(Self.firstLetter)
        case .digit: add(Self.firstLetter + Self.letterBehindDigit)
        case .lower, .upper:
            let pair = 2 * LetterPairs.surprise(of: letter, after: previousLetter)
            costOfCapitals += pair
            switch (previous, kind) {
            case (.upper, .upper): costOfWords += Self.firstLetter + Self.capitalBehindCapital
            case (_, .upper): costOfWords += Self.firstLetter + Self.capitalInside
            default: costOfWords += pair
            }
        }
        (previous, previousLetter) = (kind, letter)
    }

    private mutating func add(_ cost: Int) {
        costOfWords += cost
        costOfCapitals += cost
    }

    /// The cost of random text from the smallest common alphabet that has all characters of the segment: hexadecimal,
    /// letters, letters and digits of one case, or base64.
    private var costOfRandom: Int {
        let characters = digits + lower + upper
        if lower > 0, upper > 0 { return 24 * (characters + separators) }
        let each = digits == 0 ? 19 : isHexadecimal ? 16 : 21
        return each * characters + 24 * separators
    }
}

/// Abbreviations in names whose letters are not those of English words.
enum Acronyms {
    /// Returns the length of the acronym that a text begins with; `nil` for none.
    static func length(of text: ArraySlice<UInt8>) -> Int? {
        guard let first = text.first, first.isASCIILetter else { return nil }
        return byLetter[Int((first | 0x20) - UInt8(ascii: "a"))].first { acronym in
            text.count >= acronym.count && zip(text, acronym).allSatisfy { $0 | 0x20 == $1 }
        }?.count
    }

    static let all = """
        acct ajax apk api arn aws bgp btn cdn cfg cli cms cpu crl crm crt csrf css csv dhcp dkim dns eks erp fhir gcp
        gif gpg gps gpu graphql grpc gtm guid html http iam ics ios iot ipfs jpg json jwk jws jwt kms ksql kube ldap lfs lms mdm
        mfa mgmt mqtt mtls nfs nft nsg oauth oidc opml otp pdf pgp php pki png psd psql rbac rds rdp rpc rss rsvp saas
        saml scim sdk sftp sms smtp sns sql sqs ssh ssl sso svc svg tcp tftp tls tmp ttl udp url usr utm uuid vcs
        vlan vpc vpn vps waf webp wms wmts wsdl xhr xls xml xmpp xss xsrf yml
        """.split(whereSeparator: \.isWhitespace).map { Array($0.utf8) }

    /// The acronyms by their first letter, the longest first.
    private static let byLetter: [[[UInt8]]] = (UInt8(ascii: "a")...UInt8(ascii: "z")).map { letter in
        all.filter { $0.first == letter }.sorted { $0.count > $1.count }
    }
}

/// The surprise of a letter after another one in English, in half bits; at most 20.
///
/// `scripts/letter-pairs.py` prints the table from the 63,849 words of Debian's `wamerican` (2020.12.07) that consist of
/// lower-case letters only.
enum LetterPairs {
    /// The row is a letter, and the column the letter that follows it. In the text, `a` means 0 and `u` means 20.
    private static let table = Array(
        """
        ujijqnkrkungjgukugifmmnqmp
        gjrqgtutgpufrrguuhjohsuunu
        gumuguughuhjuufusimhjuuunu
        ioqkdqlqepujooiqujirjooumu
        jokgkmnqotsjkholqffjqnompt
        hsuughutfuuguuguuhljhuuulu
        gruuftiiguuhnjitugiqiusumu
        fotsequsfuumnofsukljjupuku
        kmikhlkuuuqjkeimskhirkuruk
        euuufuuuhuuuuueuuuuueuuuuu
        jnspdprnetqiojmoungpnunuku
        gqpmepqufuogpqhputjljpuuhu
        fitufquufuuqjoggutjujuuuou
        iqihgmeqismprmjqrqhgmorupu
        llkkonksluniifjjtgjjhkkpor
        gsttftuihuuhrsgiugjkjusuou
        uuuuuuuuuuuuuuuuuuutauuuuu
        gnlkfpmqgunnllhnukhjkoqulu
        jritgqshhumklmjjpshejununu
        hqnuequieuulqqisuhhjkuoukr
        jkjkjmkujurhifojugghururuq
        guuucuuueuuuuuhuutuumruupu
        ensmfqsifuokqigpujipruturt
        ishufsskfuuruukfsssfknqllu
        ikikhnmngsrjijjhukfkoulpuo
        htutcuuufutksujruuuupssumh
        """.utf8.filter { $0 >= UInt8(ascii: "a") })

    /// Returns the surprise in half bits. Both parameters are letters, 0 for `a`.
    static func surprise(of second: Int, after first: Int) -> Int {
        let cell = first * 26 + second
        return table.indices.contains(cell) ? Int(table[cell] - UInt8(ascii: "a")) : 0
    }
}
