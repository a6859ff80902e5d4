/// The redaction of the values among a path's segments: bot tokens, mail addresses, keys, coordinates. Names stay. Plain
/// numbers and UUIDs stay too, because people look a request up by the number of an order. A number that may be a payment
/// card's is taken out.
enum SegmentRedaction {
    /// Returns the text that replaces a value; `nil` for a segment that stays.
    static func replacement(for segment: ArraySlice<UInt8>) -> [UInt8]? {
        guard case .value(let suffix) = SegmentShape(of: segment) else { return nil }
        let value = segment.dropLast(suffix.count)
        return isNumber(value) || isUUID(value) ? nil : Redaction.placeholderBytes + suffix
    }

    /// Returns whether a value is a number of at most 20 digits (64 bits), and not a payment card's.
    private static func isNumber(_ value: ArraySlice<UInt8>) -> Bool {
        value.count <= 20 && value.allSatisfy(\.isASCIIDigit) && !isCardNumber(value)
    }

    /// Returns whether the digits may be a payment card's: 14 to 16 digits in the cards' ranges with the right check digit
    /// (ISO/IEC 7812-1, annex B).
    private static func isCardNumber(_ digits: ArraySlice<UInt8>) -> Bool {
        guard (14...16).contains(digits.count), let first = digits.first, "3456".utf8.contains(first) else {
            return false
        }
        let sum = digits.reversed().enumerated().reduce(0) { sum, digit in
            let weighted = Int(digit.element - UInt8(ascii: "0")) * (digit.offset.isMultiple(of: 2) ? 1 : 2)
            return sum + (weighted > 9 ? weighted - 9 : weighted)
        }
        return sum.isMultiple(of: 10)
    }

    /// Returns whether a value is a UUID (RFC 9562, section 4): groups of 8, 4, 4, 4 and 12 hexadecimal digits.
    private static func isUUID(_ value: ArraySlice<UInt8>) -> Bool {
        let groups = value.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        return groups.map(\.count) == [8, 4, 4, 4, 12] && groups.joined().allSatisfy { $0.hexadecimalValue != nil }
    }
}
