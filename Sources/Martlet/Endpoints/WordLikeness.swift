/// A test that tells words from random text. It compares two explanations of a segment's letters and digits: words written
/// one behind the other (`getUserProfile2`), and characters drawn from an alphabet. An explanation costs as much as it is
/// surprising, in quarter bits.
///
/// The weights were chosen so that fewer than 1 in 1,000 of 63,849 English words, joined by hyphens, underscores or
/// capitals or followed by a version, pass for random, and fewer than 1 in 1,000 random texts of 16 to 200 characters pass
/// for words (`SegmentShapeTests`).
struct WordLikeness {
    /// The margin by which random text has to be the better explanation, in quarter bits. Words have the benefit of the
    /// doubt.
    private static let margin = 30

    // The surprise of the next character's kind in a text of words, without that of the letter or digit itself.
    private static let capitalInside = 26
    private static let capitalBehindCapital = 22
    private static let letterBehindDigit = 28
    private static let digitBehindLetter = 20
    private static let digitFirst = 8
    private static let separator = 18
    // The surprise of the letter or digit itself.
    private static let firstLetter = 17
    private static let digit = 14

    private enum Kind { case start, digit, lower, upper }

    private var previous = Kind.start
    private var previousLetter = 0
    /// The cost of words in camel case, and the cost with capitals read as small letters, for segments that have no small
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
        var likeness = WordLikeness()
        for byte in segment { likeness.add(byte) }
        let asWords = likeness.lower == 0 ? likeness.costOfCapitals : likeness.costOfWords
        return asWords > likeness.costOfRandom + margin
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

    /// The cost of random text from the smallest usual alphabet that has all of the segment's characters: hexadecimal,
    /// letters, letters and digits of one case, or base64.
    private var costOfRandom: Int {
        let characters = digits + lower + upper
        if lower > 0, upper > 0 { return 24 * (characters + separators) }
        let each = digits == 0 ? 19 : isHexadecimal ? 16 : 21
        return each * characters + 24 * separators
    }
}
